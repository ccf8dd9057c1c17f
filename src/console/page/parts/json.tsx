import { useState } from 'preact/hooks'
import { toVisible } from '../../../shared/text.ts'
import type { BodyView } from '../../protocol.ts'
import { Button } from './controls.tsx'
import { Callout, CopyHead } from './panel.tsx'
import { amount, cut, size } from './text.tsx'

const MAX_STRING = 200
/** Longer strings are never shown whole: browsers render them slowly. */
const MAX_WHOLE_STRING = 10_000
const MAX_TEXT = 20_000
const ENTRIES = 100
/** Deeper objects and lists start folded. */
const OPEN_LEVELS = 6

/** A JSON value that can be folded. The text of an unfolded value is valid JSON. */
export const Json = ({ value }: { value: unknown }) => (
  <div class="code json">
    <Node value={value} level={0} end="" />
  </div>
)

interface NodeProps {
  readonly name?: string
  readonly value: unknown
  readonly level: number
  /** The comma after the value; empty after the last value. */
  readonly end: string
}

function Node({ name, value, level, end }: NodeProps) {
  const [isOpen, setOpen] = useState(level < OPEN_LEVELS)
  const [shown, setShown] = useState(ENTRIES)
  const key = name !== undefined && <span class="busy">{`${toVisible(cut(JSON.stringify(name), MAX_STRING))}: `}</span>
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (entries.length === 0) return <div>{[key, <Leaf key="leaf" value={value} />, end]}</div>
  const isList = Array.isArray(value)
  const [start, stop] = isList ? '[]' : '{}'
  const children = entries.slice(0, shown).map(([name, value], index) => {
    const child = { ...(!isList && { name }), value, level: level + 1, end: index < entries.length - 1 ? ',' : '' }
    return <Node key={name} {...child} />
  })
  const showMore = () => setShown(shown + 10 * ENTRIES)
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary data-rest={`… ${amount(entries.length)} ${stop}`}>{[key, start]}</summary>
      {isOpen && (
        <div class="children">
          {children}
          {entries.length > shown && (
            <Button text={`Show more of ${amount(entries.length)}`} class="quiet" onClick={showMore} />
          )}
        </div>
      )}
      {isOpen && stop + end}
    </details>
  )
}

function Leaf({ value }: { value: unknown }) {
  const [isWhole, setWhole] = useState(false)
  if (typeof value !== 'string') return <span class="warn">{JSON.stringify(value)}</span>
  const isCut = !isWhole && value.length > MAX_STRING
  return (
    <>
      <span class="good">{toVisible(JSON.stringify(isCut ? value.slice(0, MAX_STRING) : value))}</span>
      {isCut && <span class="muted"> … {size(value.length)} </span>}
      {isCut && value.length <= MAX_WHOLE_STRING && (
        <Button text="Show all" class="quiet" onClick={() => setWhole(true)} />
      )}
    </>
  )
}

/** Plain text with its line breaks. Very long text is cut. */
export const Code = ({ text }: { text: string }) => (
  <pre class="code">
    <code>{cut(text, MAX_TEXT).split('\n').map(toVisible).join('\n')}</code>
  </pre>
)

/** Untrusted text, shown as JSON if it is JSON. */
export function Content({ text }: { text: string }) {
  if (text === '') return <p class="muted">Empty</p>
  try {
    return <Json value={JSON.parse(text)} />
  } catch {
    return <Code text={text} />
  }
}

const NOT_SENT = "This body can't be copied or sent again."

/** The body of a request or a response. A body that was cut can't be copied. */
export const Body = ({ title, body: { text, bytes, isCut } }: { title: string; body: BodyView }) => (
  <>
    {isCut || text === '' ? <h3 class="minor">{title}</h3> : <CopyHead title={title} text={text} label="Copy" />}
    {isCut && <Callout text={`Only the first ${size(text.length)} of ${size(bytes)} are kept. ${NOT_SENT}`} />}
    <Content text={text} />
  </>
)
