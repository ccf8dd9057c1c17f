/**
 * How a message is kept until it is handled, with the option `keepFailed`:
 *
 * 1. `claim` stores the bytes in the record of the claim: {@link messageToKeep}.
 * 2. `complete` removes them, and so does `runOnce`. `release` leaves them, with the failure: {@link failureOf}. If the process
 *    dies, they stay without a failure.
 * 3. {@link listFailed} lists the records that have bytes and no claim.
 * 4. `Receiver.replay` takes such a record: a claim that returns the bytes. From there on, a replay is like a delivery.
 */
import { ConfigurationError } from '../../errors/client-errors.ts'
import { mustHaveMethods } from '../../errors/option-checks.ts'
import { DELIVERY_SPAN_MS } from '../../shared/delivery-schedule.ts'
import { isError } from '../../shared/type-checks.ts'
import { parseWebhookBody, type WebhookEvent } from '../event.ts'
import type {
  DeliveryFailure,
  DeliveryStore,
  FailedDelivery,
  MessageToKeep,
  WebhookFailureReason,
} from '../stores/delivery-store.ts'
import { KEEPING_METHODS, type ReceiverSettings } from './options.ts'
import type { Message } from './request.ts'

/** A message that failed, and is kept. See {@link WebhookReceiver.failed}. */
export interface WebhookFailedMessage extends Omit<FailedDelivery, 'ageMs' | 'position'> {
  /** The id of the message. */
  id: string
  /** The kind of its event. */
  kind: WebhookEvent['kind']
}

/** The service has given a message up that has no attempt for longer than its longest delay, 300 s. */
export const GIVEN_UP_MS: number = DELIVERY_SPAN_MS + 5_000

/** Returns the message for the claim of a delivery; `undefined` without `keepFailed`. */
export const messageToKeep = (
  { endpoint, keepFailedMs: retainMs }: ReceiverSettings,
  { rawBody }: Message,
): MessageToKeep | undefined => (retainMs === undefined ? undefined : { endpoint, rawBody, retainMs })

const MAX_ERROR_LENGTH = 500

/** Returns the failure for the release of a delivery. */
export const failureOf = (reason: WebhookFailureReason, error: unknown, { rawBody }: Message): DeliveryFailure => ({
  reason,
  error: describe(error),
  rawBody,
})

/** Returns the name and the message of a thrown value. Databases refuse U+0000 and lone surrogates. */
function describe(error: unknown): string {
  let text = 'unknown error'
  try {
    text = isError(error) ? `${error.name}: ${error.message}` : String(error)
  } catch {
    // A thrown value may have no text.
  }
  return text.slice(0, MAX_ERROR_LENGTH).replaceAll('\0', '').toWellFormed()
}

/**
 * Returns the store of a receiver if it keeps messages.
 *
 * @throws ConfigurationError when the store lacks a method
 */
export function keepingStore({ store }: ReceiverSettings): Required<DeliveryStore> {
  const problem = mustHaveMethods(...KEEPING_METHODS)(store)
  if (problem === undefined) return store as Required<DeliveryStore>
  throw new ConfigurationError(
    `the store keeps no messages: it ${problem}; use sqliteStore or postgresStore, with keepFailed`,
  )
}

/** Lists the failed messages whose last failure is at least `olderThanMs` ago when the list begins. */
export async function* listFailed(
  settings: ReceiverSettings,
  olderThanMs: number,
): AsyncGenerator<WebhookFailedMessage, void, undefined> {
  const store = keepingStore(settings)
  let after: string | undefined
  /** A time of the store's clock. Without it, a list of messages that fail again in their replays would never end. */
  let until: number | undefined
  /** A message may fail again within the first millisecond of the list. */
  const listed = new Set<string>()
  while (true) {
    const listedBefore = listed.size
    const page = await store.failed(settings.endpoint, after)
    for (const { ageMs, position, ...failed } of page) {
      const lastFailedAt = Date.parse(failed.lastFailedAt)
      until ??= lastFailedAt + ageMs - olderThanMs
      if (lastFailedAt > until) return
      after = position
      if (listed.has(failed.key)) continue
      listed.add(failed.key)
      const { id, kind } = parseWebhookBody(failed.rawBody)
      yield { ...failed, id, kind }
    }
    if (listed.size === listedBefore) return
  }
}
