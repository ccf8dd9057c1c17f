import type { ConfigurationError } from '../../errors/client-errors.ts'
import { configurationError } from '../../errors/option-checks.ts'
import { DELIVERY_DELAYS_MS } from '../../shared/delivery-schedule.ts'
import { keepProcessAlive } from '../../shared/timers.ts'
import type { EventListeners } from '../events.ts'
import type { DeliveryFaultOptions } from '../faults/fault-options.ts'
import { applyDeliveryFault, type FaultQueue } from '../faults/faults.ts'
import { RecentLog } from '../recent-log.ts'
import type { ServiceContent } from '../seed/service-content.ts'
import { type DeliveryAttempt, type DeliveryRecord, type PostSettings, postMessage } from './delivery.ts'
import { type EmittedMessage, type MessageDraft, serializeMessage, signatureOf } from './messages.ts'
import type { Webhook } from './webhook-registry.ts'

/** A message for one URL. */
interface OutgoingDelivery {
  readonly deliveryId: string
  /** ID of the message. */
  readonly id: string
  readonly body: string
  readonly url: string
  readonly webhook: Webhook
  readonly redeliveryOf?: string
}

interface QueuedDelivery extends OutgoingDelivery {
  readonly signature: string | undefined
  readonly at: number
  readonly attempts: DeliveryAttempt[]
  state: DeliveryRecord['state']
  timer: unknown
  nextAttemptAt: number | undefined
  /** The fault of the next attempt. `delay` and `reorder` postpone the attempt. */
  fault: DeliveryFaultOptions | undefined
  /** Aborts the running attempt. */
  controller: AbortController | undefined
}

// A thousand concurrent messages must not open a thousand sockets.
const MAX_CONCURRENT = 64
const DEFAULT_DELAY_MS = 100
/** How long the fault `reorder` waits for another message. */
const MAX_HELD_MS = 5000

/** Delivers messages, retries failed attempts, and records every attempt. */
export class DeliveryQueue {
  readonly #settings: PostSettings
  readonly #faults: FaultQueue
  readonly #events: EventListeners
  readonly #deliveries = new Map<string, QueuedDelivery>()
  /** The IDs of the ended deliveries, in the order in which they ended. */
  readonly #ended = new RecentLog<string, undefined>((deliveryId) => this.#deliveries.delete(deliveryId))
  readonly #waiting: QueuedDelivery[] = []
  /** Deliveries with the fault `reorder`, which wait for another message to their URL. */
  readonly #held = new Set<QueuedDelivery>()
  readonly #running = new Set<Promise<void>>()

  constructor(settings: PostSettings, faults: FaultQueue, events: EventListeners) {
    this.#settings = settings
    this.#faults = faults
    this.#events = events
  }

  /** Queues a message for each URL of the matching webhooks. */
  send(draft: MessageDraft, { webhooks, ids }: ServiceContent): EmittedMessage {
    const { id, body } = serializeMessage(draft, ids)
    const matching = webhooks.matching(draft.target)
    const deliveryIds = matching.flatMap((webhook) =>
      webhook.urls.map((url) => {
        const deliveryId = ids.next('delivery')
        this.#add({ deliveryId, id, body, url, webhook })
        return deliveryId
      }),
    )
    return { id, body, hook_ids: matching.map(({ hook_id }) => hook_id), deliveryIds }
  }

  redeliver(deliveryId: string, { webhooks, ids }: ServiceContent): DeliveryRecord {
    const known = this.#deliveries.get(deliveryId)
    if (!known) throw redeliverError(`there is no delivery "${deliveryId}"`)
    const { id, body, url, webhook } = known
    const current = webhooks.find(webhook.hook_id)
    if (!current?.urls.includes(url)) {
      throw redeliverError(`the webhook "${webhook.hook_id}" no longer has ${url}`)
    }
    const redeliveryOf = deliveryId
    return recordOf(this.#add({ deliveryId: ids.next('delivery'), id, body, url, webhook: current, redeliveryOf }))
  }

  #add(outgoing: OutgoingDelivery): QueuedDelivery {
    const delivery: QueuedDelivery = {
      ...outgoing,
      signature: signatureOf(outgoing.webhook, outgoing.body),
      at: this.#settings.clock.now(),
      attempts: [],
      state: 'pending',
      timer: undefined,
      nextAttemptAt: undefined,
      fault: undefined,
      controller: undefined,
    }
    this.#deliveries.set(delivery.deliveryId, delivery)
    this.#reportChange(delivery)
    this.#enqueue(delivery)
    return delivery
  }

  /** How many deliveries were discarded because of the limits, since the last `clear`. */
  get discarded(): number {
    return this.#ended.discarded
  }

  records(): readonly DeliveryRecord[] {
    return [...this.#deliveries.values()].map(recordOf)
  }

  /** When the next waiting attempt is due, in milliseconds since the epoch. */
  get nextRetryAt(): number | undefined {
    let next: number | undefined
    for (const { nextAttemptAt = Infinity } of this.#deliveries.values()) {
      if (nextAttemptAt < (next ?? Infinity)) next = nextAttemptAt
    }
    return next
  }

  /** Resolves when no attempt is running. Does not wait for retries that are not due. */
  async settle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  /** Drops the pending deliveries of a webhook, except those to `keptUrls`. */
  drop(hookId: string, keptUrls: readonly string[]): void {
    for (const delivery of this.#deliveries.values()) {
      if (delivery.state !== 'pending' || delivery.webhook.hook_id !== hookId) continue
      if (keptUrls.includes(delivery.url)) continue
      this.#abort(delivery, 'the webhook was unregistered, or no longer has this URL')
      this.#end(delivery, 'dropped')
    }
  }

  /** Aborts every attempt, cancels every retry, and deletes all deliveries. */
  clear(): void {
    for (const delivery of this.#deliveries.values()) this.#abort(delivery, 'the service was reset')
    this.#deliveries.clear()
    this.#ended.clear()
    this.#waiting.length = 0
    this.#held.clear()
  }

  #abort(delivery: QueuedDelivery, reason: string): void {
    delivery.controller?.abort(new Error(reason))
    this.#settings.clock.clearTimeout(delivery.timer)
    delivery.nextAttemptAt = undefined
    this.#held.delete(delivery)
  }

  #enqueue(delivery: QueuedDelivery): void {
    delivery.nextAttemptAt = undefined
    this.#held.delete(delivery)
    this.#waiting.push(delivery)
    this.#startWaiting()
  }

  #startWaiting(): void {
    while (this.#running.size < MAX_CONCURRENT) {
      const delivery = this.#waiting.shift()
      if (!delivery) return
      if (delivery.state !== 'pending' || this.#postpone(delivery)) continue
      const attempt: Promise<void> = this.#attempt(delivery).then(() => {
        this.#running.delete(attempt)
        this.#startWaiting()
      })
      this.#running.add(attempt)
      this.#settings.clock.track?.(attempt)
    }
  }

  /** Takes the fault of the next attempt. Postpones the attempt if the fault says so, and returns whether it did. */
  #postpone(delivery: QueuedDelivery): boolean {
    if (delivery.fault) return false
    const fault = this.#faults.takeForDelivery(delivery.body, this.#heldBy(delivery).length > 0)
    delivery.fault = fault
    if (fault?.kind !== 'delay' && fault?.kind !== 'reorder') return false
    if (fault.kind === 'reorder') this.#held.add(delivery)
    this.#enqueueAfter(delivery, fault.kind === 'delay' ? (fault.delayMs ?? DEFAULT_DELAY_MS) : MAX_HELD_MS)
    return true
  }

  /** Returns the deliveries that `reorder` holds until this one has been sent. */
  #heldBy({ id, url }: QueuedDelivery): readonly QueuedDelivery[] {
    return [...this.#held].filter((held) => held.url === url && held.id !== id)
  }

  /** Queues the deliveries that `reorder` held for this one. */
  #releaseHeld(delivery: QueuedDelivery): void {
    for (const held of this.#heldBy(delivery)) {
      this.#settings.clock.clearTimeout(held.timer)
      this.#enqueue(held)
    }
  }

  async #attempt(delivery: QueuedDelivery): Promise<void> {
    const at = this.#settings.clock.now()
    const { fault, url, body, webhook } = delivery
    delivery.fault = undefined
    const controller = new AbortController()
    delivery.controller = controller
    const message = { url, ...applyDeliveryFault(fault, body, webhook) }
    const result = await postMessage(message, this.#settings, controller)
    const isSentTwice = fault?.kind === 'duplicate' && result.status !== undefined && delivery.state === 'pending'
    const copy = isSentTwice ? await postMessage(message, this.#settings, controller) : undefined
    delivery.controller = undefined
    // `clear` may have deleted the delivery.
    if (this.#deliveries.get(delivery.deliveryId) !== delivery) return
    delivery.attempts.push({ at, ...result, ...(fault && { fault: fault.kind }), ...(copy && { copy }) })
    const delayMs = DELIVERY_DELAYS_MS[delivery.attempts.length - 1]
    if (result.ok) this.#end(delivery, 'delivered')
    else if (delivery.state === 'dropped') this.#reportChange(delivery)
    else if (delayMs === undefined) this.#end(delivery, 'undelivered')
    else this.#enqueueAfter(delivery, delayMs)
    this.#releaseHeld(delivery)
  }

  #enqueueAfter(delivery: QueuedDelivery, delayMs: number): void {
    const { clock } = this.#settings
    delivery.timer = clock.setTimeout(() => this.#enqueue(delivery), delayMs)
    // Read the clock after the timer was set: at `nextRetryAt`, the timer must be due.
    delivery.nextAttemptAt = clock.now() + delayMs
    // A retry in five minutes must not keep the process alive.
    keepProcessAlive(delivery.timer, false)
    this.#reportChange(delivery)
  }

  #end(delivery: QueuedDelivery, state: 'delivered' | 'undelivered' | 'dropped'): void {
    delivery.state = state
    this.#reportChange(delivery)
    // An ID ends twice if the last attempt succeeds after its delivery was dropped.
    this.#ended.set(delivery.deliveryId, undefined, delivery.body.length + JSON.stringify(delivery.attempts).length)
  }

  #reportChange(delivery: QueuedDelivery): void {
    this.#events.emit(() => ({ kind: 'delivery_changed', delivery: recordOf(delivery) }))
  }
}

const redeliverError = (message: string): ConfigurationError =>
  configurationError('redeliver', [{ path: ['deliveryId'], message }])

function recordOf(delivery: QueuedDelivery): DeliveryRecord {
  const { webhook, timer: _, controller: __, fault: ___, signature, redeliveryOf, nextAttemptAt, ...fields } = delivery
  return {
    ...fields,
    hook_id: webhook.hook_id,
    attempts: fields.attempts.map((attempt) => ({ ...attempt })),
    ...(signature !== undefined && { signature }),
    ...(redeliveryOf !== undefined && { redeliveryOf }),
    ...(nextAttemptAt !== undefined && { nextAttemptAt }),
  }
}
