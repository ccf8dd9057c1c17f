import type { Identifiers } from '../world/identifiers.ts'
import type { DeliveryQueue, DeliveryRecord } from './delivery-queue.ts'
import type { WebhookRegistry } from './webhook-registry.ts'

/** @throws TypeError when there is no such delivery, or its webhook no longer has its endpoint */
export function redeliver(
  deliveryId: string,
  { webhooks, ids }: { readonly webhooks: WebhookRegistry; readonly ids: Identifiers },
  deliveries: DeliveryQueue,
): DeliveryRecord {
  const known = deliveries.find(deliveryId)
  if (!known) throw new TypeError(`redeliver: there is no delivery "${deliveryId}"`)
  const { id, body, url, hook_id } = known
  const webhook = webhooks.find(hook_id)
  if (!webhook?.urls.includes(url)) throw new TypeError(`redeliver: the webhook "${hook_id}" no longer has ${url}`)
  return deliveries.send({ id, body, url, webhook, redeliveryOf: deliveryId }, ids.next('delivery'))
}
