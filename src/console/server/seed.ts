import type { ServiceSeed, WebhookRecord } from 'campaign-client/testing'
import { isRecord } from '../../shared/type-checks.ts'

/**
 * Prepares a seed for the service. Removes `$schema`, which editors read, and sets the secret of signed webhooks that have none.
 * Registered webhooks keep their own secrets.
 *
 * @throws Error when the seed is not a JSON object; the service checks its content
 */
export function prepareSeed(
  seed: unknown,
  secret: string | undefined,
  registered: readonly WebhookRecord[] = [],
): ServiceSeed {
  if (!isRecord(seed)) throw new Error('A seed is a JSON object. "Save seed" writes one.')
  const { $schema, ...content } = seed
  const { webhooks } = content
  if (!Array.isArray(webhooks) || secret === undefined) return content as ServiceSeed
  const kept = new Set<unknown>(registered.filter(({ signed }) => signed).map(({ hook_id }) => hook_id))
  const lacksSecret = (webhook: Record<string, unknown>) =>
    webhook.signed === true && webhook.secret === undefined && !kept.has(webhook.hook_id)
  const withSecret = (webhook: unknown) =>
    isRecord(webhook) && lacksSecret(webhook) ? { ...webhook, secret } : webhook
  return { ...content, webhooks: webhooks.map(withSecret) } as ServiceSeed
}
