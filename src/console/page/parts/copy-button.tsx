import { useState } from 'preact/hooks'
import { notify } from '../actions.ts'

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
  return (
    <button type="button" class="quiet" onClick={copy}>
      {copied ? 'Copied' : label}
    </button>
  )
}
