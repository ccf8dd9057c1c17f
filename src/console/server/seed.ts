import type { ServiceSeed, WebhookRecord } from 'campaign-client/testing'
import { isRecord } from '../../shared/types.ts'

/**
 * Returns a seed in which signed webhooks have a secret. The service keeps the secrets of the webhooks that are registered.
 *
 * @throws Error when it is not a JSON object; the service checks the rest
 */
export function withSecret(
  seed: unknown,
  secret: string | undefined,
  registered: readonly WebhookRecord[] = [],
): ServiceSeed {
  if (!isRecord(seed)) throw new Error('A seed is a JSON object, as "Save seed" writes it.')
  const { webhooks } = seed
  if (!Array.isArray(webhooks) || secret === undefined) return seed as ServiceSeed
  const kept = new Set<unknown>(registered.filter(({ signed }) => signed).map(({ hook_id }) => hook_id))
  const lacksSecret = (webhook: Record<string, unknown>) =>
    webhook.signed === true && webhook.secret === undefined && !kept.has(webhook.hook_id)
  const signed = (webhook: unknown) => (isRecord(webhook) && lacksSecret(webhook) ? { ...webhook, secret } : webhook)
  return { ...seed, webhooks: webhooks.map(signed) } as ServiceSeed
}
