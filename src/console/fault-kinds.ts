import type { DeliveryFaultKind, FaultKind } from '../testing/faults/fault-options.ts'

type Kinds<Kind extends string> = Readonly<Record<Kind, readonly [name: string, effect: string]>>

/** The name of each kind of fault and its effect on a call. */
export const FAULT_KINDS: Kinds<FaultKind> = {
  status: ['error status', 'Responds with the HTTP status that you choose. The call has no effect.'],
  reset: ['lost connection', 'Closes the connection without a response. The call has no effect.'],
  applied_then_reset: ['lost response', 'Performs the call, then closes the connection without a response.'],
  hang: ['no response', 'Keeps the connection open and never responds. The call has no effect.'],
  garbage: ['HTML response', 'Responds with 200 and an HTML page instead of JSON. The call has no effect.'],
  truncate: ['cut-off response', 'Performs the call, sends half of the response and closes the connection.'],
  stall: ['stalled response', 'Performs the call, sends half of the response, then nothing more.'],
  drip: ['slow response', 'Performs the call and sends the response byte by byte, with a pause before each.'],
  delay: ['late response', 'Performs the call and responds after the time that you choose.'],
  misshapen: ['unexpected JSON', 'Performs the call and responds with JSON that the API description does not show.'],
}

/** The name of each kind of fault and its effect on an attempt to deliver a webhook message. */
export const DELIVERY_FAULT_KINDS: Kinds<DeliveryFaultKind> = {
  delay: ['late message', 'Sends the message after the time that you choose.'],
  duplicate: ['message twice', 'Sends the message again, with the same ID, after the first response.'],
  reorder: ['out of order', 'Sends the message after the next message to the same URL, or after 5 s.'],
  bad_signature: ['wrong signature', 'Sends a signature that does not match. Retries have the right one.'],
  missing_field: ['missing field', 'Leaves out the field that you choose, and signs the rest.'],
}
