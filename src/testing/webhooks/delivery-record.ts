import type { DeliveryFaultKind } from '../faults/fault-options.ts'
import type { PostResult } from './post-message.ts'

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
