import type { Identifiers } from '../world/identifiers.ts'
import type { ServiceState } from '../world/state.ts'
import type { UserEvent } from '../world/user-event.ts'
import type { DeliveryQueue } from './delivery-queue.ts'
import { draftEmitted, type EmitOptions, type EmittedMessage } from './emit.ts'
import { type Draft, draftMessage, sealMessage } from './message.ts'
import type { WebhookRegistry } from './webhook-registry.ts'

/** Makes messages and hands each to the webhooks that it is for. */
export class WebhookSender {
  readonly #state: ServiceState
  readonly #webhooks: WebhookRegistry
  readonly #deliveries: DeliveryQueue
  readonly #ids: Identifiers

  constructor(state: ServiceState, webhooks: WebhookRegistry, deliveries: DeliveryQueue, ids: Identifiers) {
    this.#state = state
    this.#webhooks = webhooks
    this.#deliveries = deliveries
    this.#ids = ids
  }

  /** Tells the webhooks of something that happened. */
  announce(event: UserEvent): void {
    // A message costs a ranking: it is only made where somebody wants it.
    if (!this.#webhooks.isEmpty) this.#send(draftMessage(event))
  }

  /** @throws TypeError when an option is wrong, or names what is not there */
  emit(options: EmitOptions): EmittedMessage {
    return this.#send(draftEmitted(options, this.#state))
  }

  #send(draft: Draft): EmittedMessage {
    const { id, body } = sealMessage(draft, this.#ids)
    const webhooks = this.#webhooks.applicable(draft.address)
    for (const webhook of webhooks) {
      for (const url of webhook.urls) this.#deliveries.send({ id, body, url, webhook }, this.#ids.next('delivery'))
    }
    return { id, body, hook_ids: webhooks.map(({ hook_id }) => hook_id) }
  }
}
