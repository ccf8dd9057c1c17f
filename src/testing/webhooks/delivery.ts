import { type ServiceClock, untilAborted } from '../clock.ts'
import type { DeliveryFaultKind } from '../faults/fault-options.ts'

/** One attempt to deliver a message. */
export interface DeliveryAttempt extends PostResult {
  /** Start time, in milliseconds since the epoch, by the service's clock. */
  readonly at: number
  /** The fault that affected the attempt. */
  readonly fault?: DeliveryFaultKind
  /** With the fault `duplicate`: the result of the second message. It does not change the state of the delivery. */
  readonly copy?: PostResult
}

/**
 * The delivery of a message to one URL.
 * See "Delivery and retries" in docs/the-service.md.
 */
export interface DeliveryRecord {
  /** ID of this delivery. */
  readonly deliveryId: string
  /** ID of the message: the same for every URL and every redelivery. */
  readonly id: string
  /** ID of the webhook. */
  readonly hook_id: string
  /** URL of the webhook that the message is sent to. */
  readonly url: string
  /** The exact payload: the same for every URL. A fault may change what is sent. */
  readonly body: string
  /** The `x-service-signature` header; absent for a webhook without a secret. */
  readonly signature?: string
  /** `deliveryId` of the earlier delivery, if `service.redeliver` created this delivery. */
  readonly redeliveryOf?: string
  /**
   * `'pending'`: an attempt is running or waiting. `'delivered'`: an attempt succeeded. `'undelivered'`: the first
   * attempt and all four retries failed. `'dropped'`: the webhook or its URL was removed.
   */
  readonly state: 'pending' | 'delivered' | 'undelivered' | 'dropped'
  /** When the message was queued, in milliseconds since the epoch, by the service's clock. */
  readonly at: number
  /** The completed attempts, oldest first: at most five. */
  readonly attempts: readonly DeliveryAttempt[]
  /** When the next attempt is due, in milliseconds since the epoch; absent when no attempt is waiting. */
  readonly nextAttemptAt?: number
}

/** Sends a message to its URL. The default is the platform's fetch. */
export type Deliver = (request: Request) => Response | PromiseLike<Response>

/** The result of one attempt to deliver a message. */
export interface PostResult {
  /** Whether the response had a status from 200 to 299. */
  readonly ok: boolean
  /** Time until the end of the response or until the failure, in milliseconds, by the service's clock. */
  readonly durationMs: number
  /** The status of the response; absent when there was no response. */
  readonly status?: number
  /** The headers of the response, with names in lower case, without cookies: at most about 4 kB. */
  readonly headers?: Readonly<Record<string, string>>
  /** The first kilobyte of the response, as text. */
  readonly response?: string
  /** Why there was no response. */
  readonly error?: string
  /** The code of that error, such as `ECONNREFUSED`; absent when it has none. */
  readonly code?: string
}

interface OutgoingMessage {
  readonly url: string
  readonly body: string
  readonly signature: string | undefined
}

export interface PostSettings {
  readonly deliver: Deliver
  readonly clock: ServiceClock
  readonly timeoutMs: number
}

const SNIPPET_BYTES = 1024
const MAX_HEADERS_LENGTH = 4096

/**
 * Posts a message once. Never rejects: failures are results.
 *
 * @param controller - aborts the attempt; the timeout aborts it as well
 */
export async function postMessage(
  message: OutgoingMessage,
  { deliver, clock, timeoutMs }: PostSettings,
  controller: AbortController = new AbortController(),
): Promise<PostResult> {
  const { signal } = controller
  const startedAt = clock.now()
  const durationMs = () => clock.now() - startedAt
  const timer = clock.setTimeout(
    () => controller.abort(new Error(`no complete response within ${timeoutMs} ms`)),
    timeoutMs,
  )
  // `deliver` may ignore the signal.
  const aborted = untilAborted(signal)
  aborted.catch(() => {})
  try {
    const request = new Request(message.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(message.signature !== undefined && { 'x-service-signature': message.signature }),
      },
      body: message.body,
      redirect: 'manual',
      signal,
    })
    const response = await Promise.race([(async () => deliver(request))(), aborted])
    const snippet = await readSnippet(response, aborted)
    const { ok, status } = response
    return { ok, durationMs: durationMs(), status, headers: keptHeaders(response.headers), response: snippet }
  } catch (error) {
    return { ok: false, durationMs: durationMs(), ...describeFailure(error) }
  } finally {
    clock.clearTimeout(timer)
  }
}

/** Returns the first headers of a response, without cookies. */
function keptHeaders(headers: Headers): Readonly<Record<string, string>> {
  let length = 0
  const kept = [...headers].filter(([name, value]) => {
    if (name === 'set-cookie') return false
    length += name.length + value.length
    return length <= MAX_HEADERS_LENGTH
  })
  return Object.fromEntries(kept)
}

/** Returns the first kilobyte of the response, or less if the body is truncated. */
async function readSnippet(response: Response, aborted: Promise<never>): Promise<string> {
  const reader = response.body?.getReader()
  if (!reader) return ''
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  try {
    while (size < SNIPPET_BYTES) {
      const { done, value } = await Promise.race([reader.read(), aborted])
      if (done) return text + decoder.decode()
      const part = value.subarray(0, SNIPPET_BYTES - size)
      size += part.length
      text += decoder.decode(part, { stream: true })
    }
  } catch {
    // A truncated body does not change the result: the status decides.
  }
  reader.cancel().catch(() => {})
  return text
}

/** Describes an error of `deliver`. `fetch` names the failure of the connection in the `cause`. */
function describeFailure(error: unknown): Pick<PostResult, 'error' | 'code'> {
  if (!(error instanceof Error)) return { error: 'the delivery failed' }
  const cause: unknown = error.cause
  if (!(cause instanceof Error)) return { error: error.message }
  const code: unknown = Reflect.get(cause, 'code')
  return typeof code === 'string'
    ? { error: `${error.message}: ${code}`, code }
    : { error: `${error.message}: ${cause.message}` }
}
