import type { ComponentChildren } from 'preact'
import { toVisible } from '../../../shared/text.ts'
import { WALLET_ADDRESS } from '../../../shared/wallet-address.ts'
import type { RequestRow } from '../../protocol.ts'
import { today } from '../live.ts'

const MAX_SHOWN = 300

/** Shows untrusted text. Control and direction characters are escaped, and long text is cut. */
export const safe = (text: string) => <bdi>{toVisible(cut(text, MAX_SHOWN))}</bdi>

/** Cuts a long text and adds its size. */
export const cut = (text: string, max: number): string =>
  text.length > max ? `${text.slice(0, max)}… (${size(text.length)})` : text

/** Text in one line. It ends with an ellipsis if it does not fit; the tooltip shows more of it. */
export const OneLine = ({ text, class: more = '' }: { text: string; class?: string }) => (
  <span class={`one-line ${more}`} title={cut(toVisible(text), MAX_SHOWN)}>
    {safe(text)}
  </span>
)

/** Shows the name of a user. A wallet address is shortened to its two ends. */
export const nameOf = (user: string) =>
  WALLET_ADDRESS.test(user) ? <span title={user}>{`${user.slice(0, 4)}…${user.slice(-4)}`}</span> : safe(user)

/** The name of a call. */
export const titleOf = ({ operation, method, path }: RequestRow): string => operation ?? `${method} ${path}`

/** What a call or a message is about: the task, quest or award, its XP, and a remark. */
export const About = ({ item, xp, more }: { item?: string; xp?: number; more?: string | false | undefined }) => (
  <span class="muted">
    {item !== undefined && safe(` ${item}`)}
    {xp !== undefined && ` · ${amount(xp)} XP`}
    {more && ` · ${more}`}
  </span>
)

type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'plain'

export const Badge = ({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
)

/** The HTTP status of a response. `none` stands for no response. */
export const StatusBadge = ({ status, none = 'none' }: { status: number | undefined; none?: string | undefined }) => (
  <Badge tone={toneOf(status)}>{status ?? none}</Badge>
)

/** Returns the tone of an HTTP status; `undefined` stands for no response. */
const toneOf = (status: number | undefined): Tone =>
  status === undefined || status >= 500 ? 'bad' : status >= 400 ? 'warn' : status >= 300 ? 'busy' : 'good'

// Without `Intl`: creating the first formatter takes longer than rendering the page.
export const clockTime = (ms: number): string => new Date(ms).toTimeString().slice(0, 8)

/** Formats a date: `28 Nov 2026`. */
export function dayOf(ms: number): string {
  const [, month, day, year] = new Date(ms).toDateString().split(' ')
  return `${Number(day)} ${month} ${year}`
}

/** A time of day, with the day if it is not the machine's current day. Narrow tables hide the last digits. */
export function Time({ ms, class: name }: { ms: number; class?: string }) {
  const time = clockTime(ms)
  const date = new Date(ms).toISOString()
  const fraction = date.slice(19, 23)
  const isOtherDay = new Date(ms).toDateString() !== today.value
  return (
    <time class={name} dateTime={date} title={`${dayOf(ms)}, ${time}${fraction}`}>
      {isOtherDay ? `${dayOf(ms).slice(0, -5)} ${time.slice(0, 5)}` : time}
      <span class="fraction">{isOtherDay ? time.slice(5) : fraction}</span>
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
export const amount = (value: number): string =>
  String(Number(value.toFixed(2))).replaceAll(/\B(?=(?:\d{3})+(?!\d))/g, '\u202f')

/** Formats a number with its noun: `1 task`, `2 tasks`, `2 deliveries`. */
export const count = (value: number, noun: string): string =>
  `${amount(value)} ${value === 1 ? noun : `${noun}s`.replace(/ys$/, 'ies')}`

/** Formats a size in bytes: `812 B`, `4.2 kB`, `1 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const [value, unit] = bytes < 999_950 ? [bytes / 1000, 'kB'] : [bytes / 1e6, 'MB']
  return `${Number(value.toFixed(value < 10 ? 1 : 0))} ${unit}`
}
