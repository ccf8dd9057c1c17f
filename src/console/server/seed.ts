import type { ServiceSeed } from 'campaign-client/testing'
import { isRecord } from '../../shared/types.ts'

/**
 * A seed as it was kept: without secrets. Webhooks that were signed get the one that is known here.
 *
 * @throws Error with a sentence for the reader when it can be no seed; what is inside it is checked by the service
 */
export function withSecret(seed: unknown, secret: string | undefined): ServiceSeed {
  if (!isRecord(seed)) throw new Error('A seed is a JSON object, as "Save seed" writes it.')
  const { webhooks } = seed
  if (!Array.isArray(webhooks) || secret === undefined) return seed as ServiceSeed
  const signed = (webhook: unknown) =>
    isRecord(webhook) && webhook.signed === true && webhook.secret === undefined ? { ...webhook, secret } : webhook
  return { ...seed, webhooks: webhooks.map(signed) } as ServiceSeed
}
