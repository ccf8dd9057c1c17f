import type { ServiceSeed, WebhookRecord } from 'campaign-client/testing'
import { isRecord } from '../../shared/type-checks.ts'

/**
 * Sets the secret of signed webhooks that have none in the seed. Registered webhooks keep their own secrets.
 *
 * @throws Error when the seed is not a JSON object; the service checks its content
 */
export function withSecret(
  seed: unknown,
  secret: string | undefined,
  registered: readonly WebhookRecord[] = [],
): ServiceSeed {
  if (!isRecord(seed)) throw new Error('A seed is a JSON object. "Save seed" writes one.')
  const { webhooks } = seed
  if (!Array.isArray(webhooks) || secret === undefined) return seed as ServiceSeed
  const kept = new Set<unknown>(registered.filter(({ signed }) => signed).map(({ hook_id }) => hook_id))
  const lacksSecret = (webhook: Record<string, unknown>) =>
    webhook.signed === true && webhook.secret === undefined && !kept.has(webhook.hook_id)
  const signed = (webhook: unknown) => (isRecord(webhook) && lacksSecret(webhook) ? { ...webhook, secret } : webhook)
  return { ...seed, webhooks: webhooks.map(signed) } as ServiceSeed
}
