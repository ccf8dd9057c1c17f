import type { World } from '../seed/load-seed.ts'
import type { UserEvent } from '../world/complete-task.ts'
import type { DeliveryQueue, DeliveryRecord } from './delivery-queue.ts'
import { draftEmitted, type EmitOptions, type EmittedMessage } from './emit.ts'
import { type Draft, draftMessage, sealMessage } from './webhook-message.ts'

/** Turns events into messages and queues them for each webhook that they are for. */
export class WebhookSender {
  readonly #world: () => World
  readonly #deliveries: DeliveryQueue

  constructor(world: () => World, deliveries: DeliveryQueue) {
    this.#world = world
    this.#deliveries = deliveries
  }

  /** Sends the message of an event. */
  announce(event: UserEvent): void {
    // A message needs the user's rank, which is slow to compute: skip it when nobody listens.
    if (!this.#world().webhooks.isEmpty) this.#send(draftMessage(event))
  }

  /** @throws TypeError when an option is wrong, or names a campaign, user or item that does not exist */
  emit(options: EmitOptions): EmittedMessage {
    return this.#send(draftEmitted(options, this.#world().state))
  }

  /** @throws TypeError when there is no such delivery, or its webhook no longer has the endpoint */
  redeliver(deliveryId: string): DeliveryRecord {
    const known = this.#deliveries.find(deliveryId)
    if (!known) throw new TypeError(`redeliver: there is no delivery "${deliveryId}"`)
    const { id, body, url, hook_id } = known
    const { webhooks, ids } = this.#world()
    const webhook = webhooks.find(hook_id)
    if (!webhook?.urls.includes(url)) throw new TypeError(`redeliver: the webhook "${hook_id}" no longer has ${url}`)
    return this.#deliveries.send({ id, body, url, webhook, redeliveryOf: deliveryId }, ids.next('delivery'))
  }

  #send(draft: Draft): EmittedMessage {
    const { webhooks, ids } = this.#world()
    const { id, body } = sealMessage(draft, ids)
    const applicable = webhooks.applicable(draft.address)
    for (const webhook of applicable) {
      for (const url of webhook.urls) this.#deliveries.send({ id, body, url, webhook }, ids.next('delivery'))
    }
    return { id, body, hook_ids: applicable.map(({ hook_id }) => hook_id) }
  }
}
