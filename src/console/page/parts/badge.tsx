import type { ComponentChildren } from 'preact'

type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'plain'

export const Badge = ({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
)

/** The HTTP status of a response. `none` stands for no response. */
export const StatusBadge = ({ status, none = 'none' }: { status: number | undefined; none?: string }) => (
  <Badge tone={toneOf(status)}>{status ?? none}</Badge>
)

/** Returns the tone of an HTTP status; `undefined` stands for no response. */
const toneOf = (status: number | undefined): Tone =>
  status === undefined || status >= 500 ? 'bad' : status >= 400 ? 'warn' : status >= 300 ? 'busy' : 'good'
