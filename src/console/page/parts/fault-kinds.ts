import type { FaultKind } from 'campaign-client/testing'

/** The name of each kind of fault and its effect on a call. */
export const FAULT_KINDS: Readonly<Record<FaultKind, readonly [name: string, effect: string]>> = {
  status: ['error status', 'Answers with the HTTP status that you choose. The call has no effect.'],
  reset: ['lost connection', 'Closes the connection without an answer. The call has no effect.'],
  applied_then_reset: ['lost answer', 'Performs the call, then closes the connection without an answer.'],
  hang: ['no answer', 'Keeps the connection open and never answers. The call has no effect.'],
  garbage: ['HTML answer', 'Answers 200 with an HTML page instead of JSON. The call has no effect.'],
  truncate: ['cut-off answer', 'Performs the call, sends half of the answer and closes the connection.'],
  stall: ['stalled answer', 'Performs the call, sends half of the answer, then nothing more.'],
  drip: ['slow answer', 'Performs the call and sends the answer byte by byte, with a pause before each.'],
  delay: ['late answer', 'Performs the call and answers after the time that you choose.'],
  misshapen: ['unexpected JSON', 'Performs the call and answers with JSON that the documentation does not show.'],
}
