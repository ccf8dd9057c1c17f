import type { CampaignService } from 'campaign-client/testing'
import { diagnoseWebhook } from 'campaign-client/webhook'
import { adviceOnConnection, adviceOnStatus } from '../../shared/receiver-advice.ts'
import { DELIVERY_FAULT_KINDS } from '../fault-kinds.ts'
import type { AttemptView } from '../protocol.ts'
import type { ListedDelivery } from './feed.ts'
import { savedWebhook } from './saved-webhook.ts'

interface Senders {
  readonly service: CampaignService
  /** The value of CAMPAIGN_WEBHOOK_SECRET. */
  readonly secret: string | undefined
}

/** Returns the attempts of a delivery, with advice on each failure. */
export function explainAttempts(delivery: ListedDelivery, senders: Senders): readonly AttemptView[] {
  const { attempts } = delivery
  const findings = attempts.some(({ status }) => status === 401) ? findingsOn(delivery, senders) : []
  return attempts.map((attempt) => {
    const advice = attempt.ok ? undefined : adviceOn(attempt)
    const hasFindings = attempt.status === 401 && !isForged(attempt)
    return { ...attempt, ...(advice !== undefined && { advice }), findings: hasFindings ? findings : [] }
  })
}

type Attempt = ListedDelivery['attempts'][number]

/** Whether a fault changed the signature, so that a receiver must refuse the message. */
const isForged = ({ fault }: Attempt): boolean => fault === 'bad_signature'

function adviceOn(attempt: Attempt): string | undefined {
  const { status, headers, error, code } = attempt
  if (status === 401 && isForged(attempt)) {
    return `the fault "${DELIVERY_FAULT_KINDS.bad_signature[0]}" changed the signature: the receiver is right to refuse it`
  }
  if (status !== undefined) return adviceOnStatus(status, headers?.location)
  return adviceOnConnection({ code, message: error ?? '' })
}

/**
 * Diagnoses the message with the secrets that the receiver may have: the webhook's current one, and the one of the environment.
 * The Test tool's signature is not known here.
 */
function findingsOn(
  { body, signature, hook_id, isTest }: ListedDelivery,
  { service, secret }: Senders,
): readonly string[] {
  if (isTest) return []
  const named = [
    ["the webhook's current secret", savedWebhook(service, hook_id)?.secret],
    ['CAMPAIGN_WEBHOOK_SECRET', secret],
  ] as const
  const found = named.flatMap(([name, value], index) => {
    // The two are usually equal.
    if (!value || named.findIndex(([, other]) => other === value) < index) return []
    const findings = diagnoseWebhook(value, body, signature)
    if (findings.length === 0) return [`The signature is right for ${name}.`]
    return findings.map(({ message }) => (signature === undefined ? message : `With ${name}: ${message}`))
  })
  const unsigned = 'The webhook has no secret, so the message has no signature. Edit the webhook to enter the secret.'
  return found.length > 0 ? [...new Set(found)] : [unsigned]
}
