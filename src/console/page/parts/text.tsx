import type { ComponentChildren } from 'preact'
import { toVisible } from '../../../shared/text/visible-text.ts'

/** Text from a stranger, with what would act on a page or hide in it spelt out. */
export const Text = ({ children }: { children: string }) => <bdi>{toVisible(children)}</bdi>

/** The name of somebody. Of a wallet's address, the two ends are what people compare. */
export const Name = ({ children }: { children: string }) =>
  WALLET.test(children) ? (
    <span title={children}>
      {children.slice(0, 6)}…{children.slice(-4)}
    </span>
  ) : (
    <Text>{children}</Text>
  )

const WALLET = /^0x[0-9a-f]{40}$/i

/** For screen readers only. */
export const Hidden = ({ children }: { children: ComponentChildren }) => <span class="hidden">{children}</span>

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })

export const clockTime = (ms: number): string => CLOCK.format(ms)
export const dayOf = (ms: number): string => DAY.format(ms)

/** A point in time: the hour, with the day for those who ask. */
export const Time = ({ ms }: { ms: number }) => (
  <time dateTime={new Date(ms).toISOString()} title={`${DAY.format(ms)}, ${CLOCK.format(ms)}`}>
    {CLOCK.format(ms)}
  </time>
)

/** How long, in the largest unit that fits: `5 s`, `1 min`, `1 h 5 min`. */
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

/** XP, and whatever else is counted: with thin spaces, as 1 215. */
export const amount = (value: number): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: 2 }).replaceAll(',', '\u202f')
