import type { Finding } from '../diagnose/finding.ts'
import { diagnoseHeader, diagnoseWebhook } from '../diagnose/diagnose-webhook.ts'
import { decodeMessage } from '../event/parse.ts'
import type { WebhookEvent } from '../event/types.ts'
import { WebhookError } from '../event/webhook-error.ts'
import { toKeys, type WebhookSecret } from '../verify/secret.ts'
import { findSigner, readSignature, type SignatureHeader } from '../verify/signature.ts'
import type { WebhookRejectionReason } from './answer.ts'
import type { BodyLimits, BodyRead } from './body.ts'
import { type Deadline, LATE } from './deadline.ts'
import type { ReceiverReports } from './reports.ts'
import type { ReceiverSettings } from './settings.ts'

/** A request as the adapters hand it over. */
export interface InboundRequest {
  method: string
  /** The value, or values, of the signature header. */
  signature: SignatureHeader
  /** The declared length of the body, if the runtime still has the bytes to read. */
  contentLength?: string | null | undefined
  /** Resolves when the body is there, and at the deadline at the latest. */
  readBody(limits: BodyLimits): Promise<BodyRead>
  /** Keeps the runtime alive until the promise settles, where an answer would otherwise end it. */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/** A message whose signature and form are right. */
export interface Message {
  event: WebhookEvent
  rawBody: Uint8Array
  secretIndex: number
}

export type Intake =
  | { ok: true; message: Message }
  | { ok: false; reason: WebhookRejectionReason; diagnose?: () => Finding[] }

/** The header the service signs in. Interface: [Signature](../../../docs/the-service.md#signature). */
export const SIGNATURE_HEADER = 'x-service-signature'

/** From a request to a message that comes from the service, or the reason why not: the cheapest checks first. */
export async function takeIn(
  request: InboundRequest,
  settings: ReceiverSettings,
  reports: ReceiverReports,
  deadline: Deadline,
): Promise<Intake> {
  if (request.method !== 'POST') return { ok: false, reason: 'method_not_allowed' }
  const header = request.signature
  const signature = readSignature(header)
  if (!signature.ok) return { ...signature, diagnose: () => diagnoseHeader(header) }
  // A length that lies is caught while reading; an honest one spares it.
  if (Number(request.contentLength ?? 0) > settings.maxBodyBytes) return { ok: false, reason: 'too_large' }

  const body = await request.readBody({ maxBytes: settings.maxBodyBytes, deadline })
  if (!body.ok) {
    if (body.reason === 'body_not_raw') reports.error(new WebhookError('body_not_raw', body.detail), 'body')
    return { ok: false, reason: body.reason }
  }

  let secret: WebhookSecret
  let secretIndex: number
  try {
    secret = typeof settings.secret === 'function' ? await askFor(settings.secret, deadline) : settings.secret
    secretIndex = findSigner(toKeys(secret), body.bytes, signature.digits)
  } catch (error) {
    reports.error(error, 'secret')
    return { ok: false, reason: 'secret_unavailable' }
  }
  if (secretIndex < 0) {
    return { ok: false, reason: 'signature_mismatch', diagnose: () => diagnoseWebhook(secret, body.bytes, header) }
  }

  const decoded = decodeMessage(body.bytes)
  if (!decoded.ok) return decoded
  return { ok: true, message: { event: decoded.event, rawBody: body.bytes, secretIndex } }
}

async function askFor(
  source: Extract<ReceiverSettings['secret'], () => unknown>,
  deadline: Deadline,
): Promise<WebhookSecret> {
  const given = await deadline.meet((async () => source())())
  if (given === LATE) {
    throw new Error(`The source of the secret gave none within ${deadline.delayMs} ms of the request.`)
  }
  return given
}
