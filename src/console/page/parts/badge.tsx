import type { ComponentChildren } from 'preact'

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'plain'

export const Badge = ({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
)

/** Returns the tone of an HTTP status; `undefined` stands for no response. */
export const toneOf = (status: number | undefined): Tone =>
  status === undefined || status >= 500 ? 'bad' : status >= 400 ? 'warn' : status >= 300 ? 'busy' : 'good'
