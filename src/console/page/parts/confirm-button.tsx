import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'

interface ConfirmButtonProps {
  /** Text of the button that opens the question. */
  readonly label: string
  /** Its name for screen readers, where the label does not say enough. */
  readonly name?: string
  readonly class?: string
  readonly question: string
  /** What the user loses. */
  readonly children: ComponentChildren
  /** Text of the button that goes on. */
  readonly yes: string
  readonly no: string
  readonly onConfirm: () => unknown
}

/** A button that asks before it acts. */
export function ConfirmButton({ label, name, question, children, yes, no, onConfirm, ...rest }: ConfirmButtonProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const title = useId()
  const confirm = () => {
    dialog.current?.close()
    return onConfirm()
  }
  return (
    <>
      <button type="button" class={rest.class} aria-label={name} onClick={() => dialog.current?.showModal()}>
        {label}
      </button>
      <dialog ref={dialog} aria-labelledby={title}>
        <h2 id={title}>{question}</h2>
        <p>{children}</p>
        <div class="buttons">
          <button type="button" class="danger" onClick={confirm}>
            {yes}
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            {no}
          </button>
        </div>
      </dialog>
    </>
  )
}
