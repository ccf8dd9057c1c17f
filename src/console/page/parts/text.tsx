import type { ComponentChildren } from 'preact'
import { toVisible } from '../../../shared/text.ts'
import { WALLET_ADDRESS } from '../../../shared/wallet-address.ts'

const MAX_SHOWN = 300

/** Untrusted text. Control and direction characters are escaped, and long text is cut. */
export const Text = ({ children: text }: { children: string }) => <bdi>{toVisible(cut(text, MAX_SHOWN))}</bdi>

/** Cuts a long text and adds its size. */
export const cut = (text: string, max: number): string =>
  text.length > max ? `${text.slice(0, max)}… (${size(text.length)})` : text

/** Text in one line. It ends with an ellipsis if it does not fit; the tooltip shows more of it. */
export const OneLine = ({ children: text, class: more = '' }: { children: string; class?: string }) => (
  <span class={`one-line ${more}`} title={cut(toVisible(text), MAX_SHOWN)}>
    <Text>{text}</Text>
  </span>
)

/** The name of a user. A wallet address is shortened to its two ends. */
export const Name = ({ children }: { children: string }) =>
  WALLET_ADDRESS.test(children) ? (
    <span title={children}>
      {children.slice(0, 4)}…{children.slice(-4)}
    </span>
  ) : (
    <Text>{children}</Text>
  )

/** Text for screen readers only. */
export const Hidden = ({ children }: { children: ComponentChildren }) => <span class="hidden">{children}</span>

const PRECISE = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
})
const NUMBER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 })
const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })
const SHORT_DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

export const clockTime = (ms: number): string => PRECISE.format(ms).slice(0, -4)
export const dayOf = (ms: number): string => DAY.format(ms)

/** The start and the end of the machine's day. */
let today = { start: 0, end: 0 }

/** Whether a time is on another day than the machine's, because the clock was moved. Tables ask for every row. */
export function isOtherDay(ms: number): boolean {
  if (Date.now() >= today.end) {
    const start = new Date().setHours(0, 0, 0, 0)
    today = { start, end: new Date(start).setDate(new Date(start).getDate() + 1) }
  }
  return ms < today.start || ms >= today.end
}

/** A time of day, with the day if it is not today. Very narrow tables hide the milliseconds or the seconds. */
export function Time({ ms }: { ms: number }) {
  const time = PRECISE.format(ms)
  return (
    <time dateTime={new Date(ms).toISOString()} title={`${dayOf(ms)}, ${time}`}>
      {isOtherDay(ms) ? (
        <>
          {SHORT_DAY.format(ms)} {time.slice(0, 5)}
          <span class="fraction">{time.slice(5, 8)}</span>
        </>
      ) : (
        <>
          {time.slice(0, 8)}
          <span class="fraction">{time.slice(8)}</span>
        </>
      )}
    </time>
  )
}

/** Formats a duration in its two largest units: `5 s`, `1 min`, `1 h 5 min`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  const days = Math.floor(hours / 24)
  if (days > 0) return `${days} d${hours % 24 ? ` ${hours % 24} h` : ''}`
  if (hours > 0) return `${hours} h${minutes % 60 ? ` ${minutes % 60} min` : ''}`
  if (minutes > 0) return `${minutes} min${seconds % 60 ? ` ${seconds % 60} s` : ''}`
  return `${seconds} s`
}

/** Formats a number with narrow spaces between thousands: 1 215. */
export const amount = (value: number): string => NUMBER.format(value).replaceAll(',', '\u202f')

/** Formats a number with its noun: `1 task`, `2 tasks`, `2 deliveries`. */
export const count = (value: number, noun: string): string =>
  `${amount(value)} ${value === 1 ? noun : `${noun}s`.replace(/ys$/, 'ies')}`

/** Formats a size in bytes: `812 B`, `4.2 kB`, `1 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const [value, unit] = bytes < 999_950 ? [bytes / 1000, 'kB'] : [bytes / 1e6, 'MB']
  return `${Number(value.toFixed(value < 10 ? 1 : 0))} ${unit}`
}
