import { adviceOnConnection, adviceOnStatus } from '../../shared/receiver-advice.ts'
import { isRecord } from '../../shared/type-checks.ts'
import type { CampaignService } from '../../testing/campaign-service.ts'
import type { WebhookSeed } from '../../testing/seed/seed.ts'
import type { DeliveryRecord } from '../../testing/webhooks/delivery.ts'
import { diagnoseWebhook } from '../../webhook/diagnose.ts'
import { DELIVERY_FAULT_KINDS } from '../fault-kinds.ts'
import type { AttemptView, DeliveryRow } from '../protocol.ts'
import { shorten } from './request-view.ts'

interface Senders {
  readonly service: CampaignService
  /** The value of CAMPAIGN_WEBHOOK_SECRET. */
  readonly secret: string | undefined
}

/** A delivery of the service, or a message of the Test tool in the same form. */
export type ListedDelivery = Omit<DeliveryRecord, 'deliveryId'> &
  Pick<DeliveryRow, 'key' | 'cause' | 'isFromConsole' | 'isTest'>

export function deliveryRow({ body, signature, attempts, ...delivery }: ListedDelivery): DeliveryRow {
  const lastStatus = attempts.at(-1)?.status
  const fault = attempts.findLast((attempt) => attempt.fault !== undefined)?.fault
  return {
    ...delivery,
    ...subjectOf(body),
    attempts: attempts.length,
    failures: attempts.filter(({ ok }) => !ok).length,
    statuses: [...new Set(attempts.map(({ status }) => String(status ?? 'none')))],
    ...(lastStatus !== undefined && { lastStatus }),
    ...(fault !== undefined && { fault }),
  }
}

/** Returns what a message is about, with defaults for a payload without type, user and campaign. */
function subjectOf(body: string): Pick<DeliveryRow, 'type' | 'user' | 'pid' | 'item' | 'xp'> {
  const { scope, user, event, campaign } = JSON.parse(body)
  const type: unknown = isRecord(event) ? event.type : undefined
  const pid: unknown = isRecord(campaign) ? campaign.id : undefined
  const data = isRecord(event) && isRecord(event.data) ? event.data : {}
  const item = [data.action, data.reward].map((each) => isRecord(each) && each.id).find(Boolean)
  return {
    ...(typeof item === 'string' && { item: shorten(item) }),
    ...(typeof data.xp === 'number' && { xp: data.xp }),
    type: typeof type === 'string' ? shorten(type) : typeof scope === 'string' ? shorten(scope) : 'message',
    user: typeof user === 'string' ? shorten(user) : '',
    pid: typeof pid === 'string' ? shorten(pid) : '',
  }
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

/** Returns a webhook with its secret, which `service.webhooks` does not have. */
export const savedWebhook = (service: CampaignService, hook_id: string | undefined): WebhookSeed | undefined =>
  service.exportSeed({ secrets: true }).webhooks?.find((webhook) => webhook.hook_id === hook_id)
