import type { ServiceContent } from '../seed/load-seed.ts'
import type { UserEvent } from '../state/user-event.ts'
import type { DeliveryQueue, DeliveryRecord } from './delivery-queue.ts'
import { draftEmittedMessage, type EmitOptions, type EmittedMessage } from './emit.ts'
import { draftMessage, type MessageDraft, serializeMessage } from './webhook-message.ts'

/** Creates the messages of events and queues them for the matching webhooks. */
export class WebhookSender {
  readonly #content: () => ServiceContent
  readonly #deliveries: DeliveryQueue

  constructor(content: () => ServiceContent, deliveries: DeliveryQueue) {
    this.#content = content
    this.#deliveries = deliveries
  }

  sendEvent(event: UserEvent): void {
    // Computing the rank in a message is slow. Create no message if no webhook is registered.
    if (this.#content().webhooks.all().length > 0) this.#send(draftMessage(event))
  }

  /** @throws TypeError when an option is wrong, or names an unknown campaign, user, task or quest */
  emit(options: EmitOptions): EmittedMessage {
    return this.#send(draftEmittedMessage(options, this.#content().state))
  }

  /** @throws TypeError when the delivery is unknown, or its webhook no longer has the URL */
  redeliver(deliveryId: string): DeliveryRecord {
    const known = this.#deliveries.find(deliveryId)
    if (!known) throw new TypeError(`redeliver: there is no delivery "${deliveryId}"`)
    const { id, body, url, hook_id } = known
    const { webhooks, ids } = this.#content()
    const webhook = webhooks.find(hook_id)
    if (!webhook?.urls.includes(url)) throw new TypeError(`redeliver: the webhook "${hook_id}" no longer has ${url}`)
    return this.#deliveries.send({ id, body, url, webhook, redeliveryOf: deliveryId }, ids.next('delivery'))
  }

  #send(draft: MessageDraft): EmittedMessage {
    const { webhooks, ids } = this.#content()
    const { id, body } = serializeMessage(draft, ids)
    const matching = webhooks.matching(draft.target)
    const deliveryIds = matching.flatMap((webhook) =>
      webhook.urls.map((url) => this.#deliveries.send({ id, body, url, webhook }, ids.next('delivery')).deliveryId),
    )
    return { id, body, hook_ids: matching.map(({ hook_id }) => hook_id), deliveryIds }
  }
}
