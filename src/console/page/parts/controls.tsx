import { computed, signal } from '@preact/signals'
import { type ComponentChildren, type ComponentProps, createContext } from 'preact'
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { RequestRow } from '../../protocol.ts'
import { notify } from '../actions.ts'
import { filterQuery, go, path, pathOf, rowQuery, section } from '../route.ts'
import { nameOf } from './text.tsx'

export const Button = ({ text, ...props }: ComponentProps<'button'> & { text: ComponentChildren }) => (
  <button type="button" {...props}>
    {text}
  </button>
)

/** Copies a text. Browsers allow it only on local pages and over HTTPS. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
      setTimeout(() => setCopied(false), 1500)
    } catch {
      notify('The browser does not allow copying here. Select the text and copy it.', { isError: true })
    }
  }
  return <Button text={copied ? 'Copied' : label} class="quiet" onClick={copy} />
}

interface Question {
  readonly title: string
  readonly consequences: ComponentChildren
  /** Texts of the buttons. */
  readonly yes: string
  readonly no: string
  readonly onConfirm: () => unknown
}

const question = signal<Question | undefined>(undefined)

/** Asks for confirmation. */
export function ask(next: Question): void {
  question.value = next
}

/** The dialog that asks for confirmation. */
export function QuestionDialog() {
  const dialog = useRef<HTMLDialogElement>(null)
  const asked = question.value
  useEffect(() => {
    if (asked) dialog.current?.showModal()
  }, [asked])
  if (!asked) return null
  const confirm = () => {
    dialog.current?.close()
    return asked.onConfirm()
  }
  return (
    <dialog ref={dialog} aria-label={asked.title}>
      <h2>{asked.title}</h2>
      <p>{asked.consequences}</p>
      <div class="flow buttons">
        {/* The first button gets the focus: Enter must not destroy anything. */}
        <Button text={asked.no} onClick={() => dialog.current?.close()} />
        <Button text={asked.yes} class="danger" onClick={confirm} />
      </div>
    </dialog>
  )
}

interface LinkProps {
  /** A path of the console, with or without a query. */
  readonly to: string
  readonly text: ComponentChildren
  /** Name of the link for screen readers. */
  readonly label?: string | undefined
  readonly class?: string
  /** Whether the link drops the list's filters. By default, links between a list and its items keep them. */
  readonly endsFilters?: boolean
}

/** Whether this row is the table's tab stop; `undefined` outside a table. */
export const IsTabStop = createContext<boolean | undefined>(undefined)

/** A link within the console. A modifier key opens it in another tab or window. */
export function Link({ to, text, label, class: className, endsFilters }: LinkProps) {
  const isTabStop = useContext(IsTabStop)
  const isOfShownList = to.split('/')[1] === section.value
  const query = isTabStop === undefined ? filterQuery : rowQuery
  const target = isOfShownList && !endsFilters ? to + query.value : to
  // Computed, so that a change of the path renders only the links that it affects.
  const isCurrent = useMemo(() => computed(() => path.value === to), [to])
  return (
    <a
      href={target}
      data-to={to}
      class={className}
      aria-label={label}
      // A table is one tab stop: the link that opens its current row.
      tabIndex={isTabStop === undefined ? undefined : isTabStop && className?.includes('opens') ? 0 : -1}
      aria-current={isCurrent.value ? 'page' : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
        event.preventDefault()
        go(target)
      }}
    >
      {text}
    </a>
  )
}

/** An account or a wallet address; empty for no user. Most rows do not know the platform. */
type UserReference = Pick<RequestRow, 'user' | 'pid'> & { readonly platform?: string | undefined }

/** A link to the page of a user. The server finds the user without the platform or campaign that a row does not have. */
export const UserLink = ({ user, platform, pid }: UserReference) =>
  user ? <Link to={pathOf('users', pid || '*', platform || '*', user)} text={nameOf(user)} /> : null
