import { useState } from 'preact/hooks'
import { tell } from '../actions.ts'

/** Copies a text. Where the browser has no clipboard for us (a page that is not on this machine), it says so. */
export function CopyButton({ text, label }: { text: string | (() => string); label: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text())
      setCopied(true)
      setTimeout(() => setCopied(false), 1500)
    } catch {
      tell('The browser did not let us copy. Select the text by hand.', true)
    }
  }
  return (
    <button type="button" class="quiet" onClick={copy}>
      {copied ? 'Copied' : label}
    </button>
  )
}
