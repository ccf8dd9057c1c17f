import { useState } from 'preact/hooks'
import { toJsonText, toVisible } from '../../../shared/text/visible-text.ts'

/** Longer texts are shown in part: a browser is slow at megabytes in one element. */
const SHOWN = 20_000

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** A text, in the form it has; JSON in colours. */
export function Code({ children: text, json = false }: { children: string; json?: boolean }) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? text : text.slice(0, SHOWN)
  return (
    <>
      <pre class="code">
        <code>{json ? coloured(shown) : shown}</code>
      </pre>
      {shown.length < text.length && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          Show all of {Math.round(text.length / 1000)} kB
        </button>
      )}
    </>
  )
}

/** A value from outside as JSON. */
export const Json = ({ value }: { value: unknown }) => <Code json>{toJsonText(value)}</Code>

/** A body from outside: as JSON where it is some, as text otherwise. */
export function Body({ text }: { text: string }) {
  if (text === '') return <p class="muted">Empty.</p>
  try {
    return <Json value={JSON.parse(text)} />
  } catch {
    return <Code>{text.split('\n').map(toVisible).join('\n')}</Code>
  }
}

/** JSON, each token in the colour of its kind. The text stays what it is. */
export function coloured(text: string) {
  const parts = []
  let end = 0
  for (const match of text.matchAll(TOKEN)) {
    const [token, string, colon] = match
    parts.push(text.slice(end, match.index))
    const kind = string === undefined ? 'literal' : colon === undefined ? 'string' : 'key'
    parts.push(<span class={kind}>{colon === undefined ? token : string}</span>, colon)
    end = match.index + token.length
  }
  return [...parts, text.slice(end)]
}
