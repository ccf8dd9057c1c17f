import { useState } from 'preact/hooks'
import { tell } from '../actions.ts'

/** Copies a text. Browsers offer no clipboard to pages that are neither local nor served by https. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
      setTimeout(() => setCopied(false), 1500)
    } catch {
      tell('The browser does not allow copying here. Select the text by hand.', true)
    }
  }
  return (
    <button type="button" class="quiet" onClick={copy}>
      {copied ? 'Copied' : label}
    </button>
  )
}
