import type { ComponentChildren, RefObject } from 'preact'
import { useId, useRef } from 'preact/hooks'

interface ConfirmDialogProps {
  readonly dialog: RefObject<HTMLDialogElement | null>
  readonly question: string
  /** The consequences. */
  readonly children: ComponentChildren
  /** Texts of the buttons that confirm and cancel. */
  readonly yes: string
  readonly no: string
  readonly onConfirm: () => unknown
}

/** A dialog that asks for confirmation, opened by `dialog.current.showModal()`. */
export function ConfirmDialog({ dialog, question, children, yes, no, onConfirm }: ConfirmDialogProps) {
  const title = useId()
  const close = () => dialog.current?.close()
  const confirm = () => {
    close()
    return onConfirm()
  }
  return (
    <dialog ref={dialog} aria-labelledby={title}>
      <h2 id={title}>{question}</h2>
      <p>{children}</p>
      <div class="buttons">
        {/* The first button gets the focus: Enter must not destroy anything. */}
        <button type="button" onClick={close}>
          {no}
        </button>
        <button type="button" class="danger" onClick={confirm}>
          {yes}
        </button>
      </div>
    </dialog>
  )
}

interface ConfirmButtonProps extends Omit<ConfirmDialogProps, 'dialog'> {
  /** Text of the button that opens the dialog. */
  readonly label: string
  /** Name of that button for screen readers. @defaultValue the label */
  readonly name?: string
  readonly class?: string
}

/** A button that asks for confirmation. */
export function ConfirmButton({ label, name, class: className, ...dialogProps }: ConfirmButtonProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  return (
    <>
      <button type="button" class={className} aria-label={name} onClick={() => dialog.current?.showModal()}>
        {label}
      </button>
      <ConfirmDialog {...dialogProps} dialog={dialog} />
    </>
  )
}
