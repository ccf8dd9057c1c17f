import { ConfigurationError } from '../../errors/client-errors.ts'
import { DELIVERY_SPAN_MS } from '../../shared/delivery-schedule.ts'
import { parseWebhookBody, type WebhookEvent } from '../event.ts'
import { type DeliveryStore, type FailedDelivery, mustKeepMessages, type TakeResult } from '../stores/delivery-store.ts'
import {
  type ClaimedDelivery,
  type DeliveryRecord,
  deliveryKey,
  interruptDelivery,
  isKeyOf,
  noResponse,
} from './delivery.ts'
import type { ReceiverSettings } from './options.ts'

// With `keepFailed`, the store keeps a message in the record of its delivery until the message is handled:
//
// 1. `claimDelivery` stores the bytes in the record of the claim.
// 2. `complete` removes them, and so does `runOnce`. `releaseDelivery` leaves them, with the failure. If the process dies, they
//    stay without a failure.
// 3. `listFailed` lists the records that have bytes and no claim.
// 4. `takeDelivery` takes such a record: a claim that returns the bytes. From there on, a replay is like a delivery:
//    `Receiver.replay` calls the handler.
// 5. `forgetMessage` removes the message.

/** A message that failed, and is kept. See {@link WebhookReceiver.failed}. */
export interface WebhookFailedMessage extends Omit<FailedDelivery, 'ageMs' | 'position'> {
  /** The id of the message. */
  id: string
  /** The kind of its event. */
  kind: WebhookEvent['kind']
}

/** When the last failure of a message is this long ago, in milliseconds, the service has made its last attempt. */
export const GIVEN_UP_MS: number = DELIVERY_SPAN_MS + 5_000

/**
 * Returns the store of a receiver if it keeps messages.
 *
 * @throws ConfigurationError when the store lacks a method
 */
export function keepingStore({ store }: ReceiverSettings): Required<DeliveryStore> {
  const issue = mustKeepMessages(store)
  if (issue === undefined) return store as Required<DeliveryStore>
  throw new ConfigurationError(
    `the store keeps no messages: it ${issue}; use sqliteStore or postgresStore, or your own store with these methods`,
  )
}

/** Lists the failed messages whose last failure is at least `olderThanMs` ago when the list begins. */
export async function* listFailed(
  store: Required<DeliveryStore>,
  endpoint: string,
  olderThanMs: number,
): AsyncGenerator<WebhookFailedMessage, void, undefined> {
  let after: string | undefined
  /** A time of the store's clock. Without it, a list of messages that fail again in their replays would never end. */
  let until: number | undefined
  /** A message may fail again within the first millisecond of the list. */
  const listed = new Set<string>()
  while (true) {
    const listedBefore = listed.size
    const page = await store.failed(endpoint, after)
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

/** The result of {@link takeDelivery}. */
export type TakenDelivery = { state: 'claimed'; claimed: ClaimedDelivery } | Exclude<TakeResult, { state: 'claimed' }>

/**
 * Takes a failed delivery for a replay, as `claimDelivery` does for a delivery.
 *
 * @throws the error of the store
 */
export async function takeDelivery(record: DeliveryRecord): Promise<TakenDelivery> {
  const { key, settings } = record
  const claimedAt = performance.now()
  const taken = await keepingStore(settings).take(key, settings.leaseMs, settings.endpoint)
  if (taken.state !== 'claimed') return taken
  const { rawBody, token } = taken
  const message = { event: parseWebhookBody(rawBody), rawBody, secretIndex: null }
  const claimed = { ...record, message, isReplay: true, token, claimedAt }
  if (performance.now() >= claimedAt + settings.leaseMs) {
    const late = noResponse('take', settings.leaseMs)
    await interruptDelivery(claimed, late).settled
    throw late
  }
  if (deliveryKey(settings.endpoint, message.event.id) === key) return { state: 'claimed', claimed }
  await interruptDelivery(claimed, new Error('taken by a receiver of another endpoint')).settled
  return { state: 'unknown' }
}

/**
 * Removes a kept message.
 *
 * @returns whether a message was kept
 * @throws ConfigurationError when the store keeps no messages
 * @throws TypeError when the key is not a string
 * @throws the error of the store
 */
export async function forgetMessage(settings: ReceiverSettings, key: string): Promise<boolean> {
  const store = keepingStore(settings)
  return isKeyOf(settings.endpoint, key) && store.forget(key, settings.endpoint)
}
