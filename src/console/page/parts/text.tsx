import type { ComponentChildren } from 'preact'
import { WALLET_ADDRESS } from '../../../shared/award.ts'
import { toVisible } from '../../../shared/text.ts'
import { today } from '../live.ts'

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

/** What a call or a message is about: the task, quest or award, and its XP. */
export const About = ({ item, xp }: { item?: string; xp?: number }) => (
  <span class="muted about">
    {item !== undefined && (
      <>
        {' '}
        <Text>{item}</Text>
      </>
    )}
    {xp !== undefined && ` · ${amount(xp)} XP`}
  </span>
)

/** Text for screen readers only. */
export const Hidden = ({ children }: { children: ComponentChildren }) => <span class="hidden">{children}</span>

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const

const digits = (value: number, length = 2): string => String(value).padStart(length, '0')

// Without `Intl`: creating the first formatter takes longer than rendering the page.
export function clockTime(ms: number): string {
  const date = new Date(ms)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((value) => digits(value)).join(':')
}

function shortDayOf(ms: number): string {
  const date = new Date(ms)
  return `${date.getDate()} ${MONTHS[date.getMonth()]}`
}

export const dayOf = (ms: number): string => `${shortDayOf(ms)} ${new Date(ms).getFullYear()}`

/** Whether a time is not on the machine's current day. The service's clock can be moved. */
export const isOtherDay = (ms: number): boolean => ms < today.start.value || ms >= today.end.value

/** A time of day, with the day if it is not today. Very narrow tables hide the milliseconds or the seconds. */
export function Time({ ms }: { ms: number }) {
  const time = clockTime(ms)
  const fraction = `.${digits(new Date(ms).getMilliseconds(), 3)}`
  const isOther = isOtherDay(ms)
  return (
    <time dateTime={new Date(ms).toISOString()} title={`${dayOf(ms)}, ${time}${fraction}`}>
      {isOther ? `${shortDayOf(ms)} ${time.slice(0, 5)}` : time}
      <span class="fraction">{isOther ? time.slice(5) : fraction}</span>
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
