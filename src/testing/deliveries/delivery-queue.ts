import { DELIVERY_DELAYS_MS } from '../../shared/delivery-schedule.ts'
import { holdProcess } from '../../shared/timers.ts'
import { type PostResult, type PostSettings, post } from './post.ts'
import { signatureOf, type Webhook } from './webhook-registry.ts'

/** One attempt to deliver a message. */
export interface DeliveryAttempt extends PostResult {
  /** When it began, in milliseconds since the epoch, by the service's clock. */
  readonly at: number
}

/**
 * A message on its way to one endpoint.
 * Interface: [Delivery and retries](../../../docs/the-service.md#delivery-and-retries).
 */
export interface DeliveryRecord {
  /** ID of this delivery: one message to one endpoint. */
  readonly deliveryId: string
  /** ID of the message: the same for every endpoint, and for each time it is delivered. */
  readonly id: string
  /** The webhook it goes to. */
  readonly hook_id: string
  /** The endpoint it goes to. */
  readonly url: string
  /** The payload, byte for byte: the same for every endpoint. */
  readonly body: string
  /** The `x-service-signature` it carries; absent for a webhook without a secret. */
  readonly signature?: string
  /** The delivery whose message this one sends again, where `service.redeliver` asked for it. */
  readonly redeliveryOf?: string
  /**
   * `'pending'` while it is on its way or waits for a retry; `'delivered'`; `'undelivered'` when the first attempt and
   * all four retries have failed; `'dropped'` when its webhook was unregistered before that.
   */
  readonly state: 'pending' | 'delivered' | 'undelivered' | 'dropped'
  /** When it was made, in milliseconds since the epoch, by the service's clock. */
  readonly at: number
  /** The attempts that have ended, oldest first: at most five. */
  readonly attempts: readonly DeliveryAttempt[]
  /** When the next attempt is due, in milliseconds since the epoch; absent unless one is waiting. */
  readonly nextAttemptAt?: number
}

/** What is to be delivered, and where. */
export interface Parcel {
  /** ID of the message. */
  readonly id: string
  readonly body: string
  readonly url: string
  readonly webhook: Webhook
  readonly redeliveryOf?: string
}

interface Delivery extends Parcel {
  readonly deliveryId: string
  readonly signature: string | undefined
  readonly at: number
  readonly attempts: DeliveryAttempt[]
  state: DeliveryRecord['state']
  timer: unknown
  nextAttemptAt: number | undefined
  /** Gives up the attempt that is under way. */
  controller: AbortController | undefined
}

const MAX_FINISHED = 10_000
// A thousand awards in a row must not open a thousand sockets.
const MAX_CONCURRENT = 64

/** Delivers messages, retries what failed, and remembers what became of each. */
export class DeliveryQueue {
  readonly #settings: PostSettings
  readonly #onChange: (delivery: () => DeliveryRecord) => void
  readonly #deliveries = new Map<string, Delivery>()
  /** Those of them that have ended, in the order in which they did. */
  readonly #finished = new Set<Delivery>()
  readonly #waiting: Delivery[] = []
  readonly #underWay = new Set<Promise<void>>()

  constructor(settings: PostSettings, onChange: (delivery: () => DeliveryRecord) => void) {
    this.#settings = settings
    this.#onChange = onChange
  }

  /** Starts to deliver a message to an endpoint. */
  send(parcel: Parcel, deliveryId: string): DeliveryRecord {
    const delivery: Delivery = {
      ...parcel,
      deliveryId,
      signature: signatureOf(parcel.webhook, parcel.body),
      at: this.#settings.clock.now(),
      attempts: [],
      state: 'pending',
      timer: undefined,
      nextAttemptAt: undefined,
      controller: undefined,
    }
    this.#deliveries.set(deliveryId, delivery)
    this.#changed(delivery)
    this.#enqueue(delivery)
    return describe(delivery)
  }

  records(): readonly DeliveryRecord[] {
    return [...this.#deliveries.values()].map(describe)
  }

  find(deliveryId: string): DeliveryRecord | undefined {
    const delivery = this.#deliveries.get(deliveryId)
    return delivery && describe(delivery)
  }

  /** When the first of the retries that wait is due. */
  get nextRetryAt(): number | undefined {
    let next: number | undefined
    for (const { nextAttemptAt } of this.#deliveries.values()) {
      if (nextAttemptAt !== undefined && nextAttemptAt < (next ?? Infinity)) next = nextAttemptAt
    }
    return next
  }

  /** Resolves when no attempt is under way. Retries that wait for their time are not waited for. */
  async settle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }

  /** Ends the deliveries to a webhook that no longer has their endpoint, without a further attempt. */
  drop(hookId: string, keptUrls: readonly string[]): void {
    for (const delivery of this.#deliveries.values()) {
      if (delivery.state !== 'pending' || delivery.webhook.hook_id !== hookId) continue
      if (keptUrls.includes(delivery.url)) continue
      this.#giveUp(delivery, 'the webhook was unregistered')
      this.#finish(delivery, 'dropped')
    }
  }

  /** Gives up everything that is under way or waiting, and forgets it. */
  clear(): void {
    for (const delivery of this.#deliveries.values()) this.#giveUp(delivery, 'the delivery was given up')
    this.#deliveries.clear()
    this.#finished.clear()
    this.#waiting.length = 0
  }

  #giveUp(delivery: Delivery, reason: string): void {
    delivery.controller?.abort(new Error(reason))
    this.#settings.clock.clearTimeout(delivery.timer)
    delivery.nextAttemptAt = undefined
  }

  #enqueue(delivery: Delivery): void {
    delivery.nextAttemptAt = undefined
    this.#waiting.push(delivery)
    this.#startWaiting()
  }

  #startWaiting(): void {
    while (this.#underWay.size < MAX_CONCURRENT) {
      const delivery = this.#waiting.shift()
      if (!delivery) return
      if (delivery.state !== 'pending') continue
      const attempt: Promise<void> = this.#attempt(delivery).then(() => {
        this.#underWay.delete(attempt)
        this.#startWaiting()
      })
      this.#underWay.add(attempt)
      this.#settings.clock.track?.(attempt)
    }
  }

  async #attempt(delivery: Delivery): Promise<void> {
    const at = this.#settings.clock.now()
    delivery.controller = new AbortController()
    const result = await post(delivery, this.#settings, delivery.controller)
    delivery.controller = undefined
    // Forgotten by `clear` in the meantime: then nobody wants to know, and nothing is retried.
    if (this.#deliveries.get(delivery.deliveryId) !== delivery) return
    delivery.attempts.push({ at, ...result })
    const delayMs = DELIVERY_DELAYS_MS[delivery.attempts.length - 1]
    if (result.ok) this.#finish(delivery, 'delivered')
    else if (delivery.state === 'dropped') this.#changed(delivery)
    else if (delayMs === undefined) this.#finish(delivery, 'undelivered')
    else this.#retryAfter(delivery, delayMs)
  }

  #retryAfter(delivery: Delivery, delayMs: number): void {
    const { clock } = this.#settings
    delivery.nextAttemptAt = clock.now() + delayMs
    delivery.timer = clock.setTimeout(() => this.#enqueue(delivery), delayMs)
    // A retry five minutes from now must not keep a finished process alive.
    holdProcess(delivery.timer, false)
    this.#changed(delivery)
  }

  #finish(delivery: Delivery, state: 'delivered' | 'undelivered' | 'dropped'): void {
    delivery.state = state
    this.#finished.add(delivery)
    this.#changed(delivery)
    if (this.#finished.size <= MAX_FINISHED) return
    const [oldest] = this.#finished
    if (oldest === undefined) return
    this.#finished.delete(oldest)
    this.#deliveries.delete(oldest.deliveryId)
  }

  #changed(delivery: Delivery): void {
    this.#onChange(() => describe(delivery))
  }
}

const describe = ({
  deliveryId,
  id,
  webhook,
  url,
  body,
  signature,
  redeliveryOf,
  state,
  at,
  attempts,
  nextAttemptAt,
}: Delivery): DeliveryRecord => ({
  deliveryId,
  id,
  hook_id: webhook.hook_id,
  url,
  body,
  ...(signature !== undefined && { signature }),
  ...(redeliveryOf !== undefined && { redeliveryOf }),
  state,
  at,
  attempts: attempts.map((attempt) => ({ ...attempt })),
  ...(nextAttemptAt !== undefined && { nextAttemptAt }),
})
