import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'

interface ConfirmButtonProps {
  /** Text of the button that opens the dialog. */
  readonly label: string
  /** Name of that button for screen readers. @defaultValue the label */
  readonly name?: string
  readonly class?: string
  readonly question: string
  /** The consequences. */
  readonly children: ComponentChildren
  /** Texts of the buttons that confirm and cancel. */
  readonly yes: string
  readonly no: string
  readonly onConfirm: () => unknown
}

/** A button that asks for confirmation. */
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
