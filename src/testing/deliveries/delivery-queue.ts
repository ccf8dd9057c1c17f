import { RETRY_DELAYS_MS } from '../../shared/retry-schedule.ts'
import { signWebhook } from '../../webhook/index.ts'
import { type PostResult, type PostSettings, post } from './post.ts'
import type { Webhook } from './webhook-registry.ts'

/** One attempt to deliver a message. */
export interface DeliveryAttempt extends PostResult {
  /** When it began, in milliseconds since the epoch, by the service's clock. */
  readonly at: number
}

/** A message on its way to one endpoint. Interface: Events, Delivery and retries. */
export interface DeliveryRecord {
  /** ID of the message: the same for every endpoint. */
  readonly id: string
  /** The webhook it goes to. */
  readonly hook_id: string
  /** The endpoint it goes to. */
  readonly url: string
  /** The payload, byte for byte: the same for every endpoint. */
  readonly body: string
  /** The `x-service-signature` it carries; absent for a webhook without a secret. */
  readonly signature?: string
  /**
   * `'pending'` while it is on its way or waits for a retry; `'delivered'`; `'undelivered'` when the first attempt and
   * all four retries have failed.
   */
  readonly state: 'pending' | 'delivered' | 'undelivered'
  /** The attempts that have ended, oldest first: at most five. */
  readonly attempts: readonly DeliveryAttempt[]
  /** When the next attempt is due, in milliseconds since the epoch; absent unless one is waiting. */
  readonly nextAttemptAt?: number
}

interface Delivery {
  readonly id: string
  readonly hook_id: string
  readonly url: string
  readonly body: string
  readonly signature: string | undefined
  readonly attempts: DeliveryAttempt[]
  state: DeliveryRecord['state']
  timer: unknown
  nextAttemptAt: number | undefined
}

const MAX_FINISHED = 10_000
// A thousand awards in a row must not open a thousand sockets.
const MAX_CONCURRENT = 64

/** Delivers messages, repeats what failed, and remembers what became of each. */
export class Deliveries {
  readonly #settings: PostSettings
  readonly #deliveries = new Set<Delivery>()
  /** Those of them that have ended, in the order in which they did. */
  readonly #finished = new Set<Delivery>()
  readonly #waiting: Delivery[] = []
  readonly #underWay = new Map<Promise<void>, AbortController>()

  constructor(settings: PostSettings) {
    this.#settings = settings
  }

  /** Starts to deliver a message to every endpoint of a webhook. */
  send(webhook: Webhook, id: string, body: string): void {
    const signature = signatureOf(webhook, body)
    for (const url of webhook.urls) {
      const delivery: Delivery = {
        id,
        hook_id: webhook.hook_id,
        url,
        body,
        signature,
        attempts: [],
        state: 'pending',
        timer: undefined,
        nextAttemptAt: undefined,
      }
      this.#deliveries.add(delivery)
      this.#enqueue(delivery)
    }
  }

  records(): readonly DeliveryRecord[] {
    return [...this.#deliveries].map(({ id, hook_id, url, body, signature, attempts, state, nextAttemptAt }) => ({
      id,
      hook_id,
      url,
      body,
      ...(signature !== undefined && { signature }),
      state,
      attempts: attempts.map((attempt) => ({ ...attempt })),
      ...(nextAttemptAt !== undefined && { nextAttemptAt }),
    }))
  }

  /** Resolves when no attempt is under way. Retries that wait for their time are not waited for. */
  async settle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.keys())
  }

  /** Gives up everything that is under way or waiting, and forgets it. */
  clear(): void {
    for (const controller of this.#underWay.values()) controller.abort(new Error('the delivery was given up'))
    for (const { timer } of this.#deliveries) this.#settings.clock.clearTimeout(timer)
    this.#deliveries.clear()
    this.#finished.clear()
    this.#waiting.length = 0
  }

  #enqueue(delivery: Delivery): void {
    this.#waiting.push(delivery)
    this.#startWaiting()
  }

  #startWaiting(): void {
    while (this.#underWay.size < MAX_CONCURRENT) {
      const delivery = this.#waiting.shift()
      if (!delivery) return
      const controller = new AbortController()
      const attempt: Promise<void> = this.#attempt(delivery, controller).then(() => {
        this.#underWay.delete(attempt)
        this.#startWaiting()
      })
      this.#underWay.set(attempt, controller)
      this.#settings.clock.track?.(attempt)
    }
  }

  async #attempt(delivery: Delivery, controller: AbortController): Promise<void> {
    const at = this.#settings.clock.now()
    delivery.nextAttemptAt = undefined
    const result = await post(delivery, this.#settings, controller)
    // Forgotten by `clear` in the meantime: then nobody wants to know, and nothing is retried.
    if (!this.#deliveries.has(delivery)) return
    delivery.attempts.push({ at, ...result })
    const delayMs = RETRY_DELAYS_MS[delivery.attempts.length - 1]
    if (result.ok) this.#finish(delivery, 'delivered')
    else if (delayMs === undefined) this.#finish(delivery, 'undelivered')
    else this.#retryAfter(delivery, delayMs)
  }

  #retryAfter(delivery: Delivery, delayMs: number): void {
    const { clock } = this.#settings
    delivery.nextAttemptAt = clock.now() + delayMs
    delivery.timer = clock.setTimeout(() => this.#enqueue(delivery), delayMs)
    // A retry five minutes from now must not keep a finished process alive.
    if (typeof delivery.timer === 'object' && delivery.timer !== null) {
      const unref: unknown = Reflect.get(delivery.timer, 'unref')
      if (typeof unref === 'function') unref.call(delivery.timer)
    }
  }

  #finish(delivery: Delivery, state: 'delivered' | 'undelivered'): void {
    delivery.state = state
    this.#finished.add(delivery)
    if (this.#finished.size <= MAX_FINISHED) return
    const [oldest] = this.#finished
    if (oldest === undefined) return
    this.#finished.delete(oldest)
    this.#deliveries.delete(oldest)
  }
}

/** Signs a payload for a webhook. `undefined` without a secret. Interface: Events, Signature. */
export const signatureOf = ({ secret }: Webhook, body: string): string | undefined =>
  secret === undefined ? undefined : signWebhook(secret, body)
