import { diagnoseHeader, diagnoseWebhook } from '../diagnose/diagnose-webhook.ts'
import { type Finding, finding } from '../diagnose/finding.ts'
import { WebhookError } from '../errors.ts'
import { decodeMessage } from '../event/parse-webhook.ts'
import type { WebhookEvent } from '../event/webhook-event.ts'
import { toKeys, type WebhookSecret } from '../verify/secret.ts'
import { findSigner, readSignature, type SignatureHeader } from '../verify/signature.ts'
import { type Deadline, LATE } from './deadline.ts'
import type { ReceiverReports } from './receiver-reports.ts'
import type { ReceiverSettings } from './receiver-settings.ts'
import type { BodyLimits, BodyRead } from './request-body.ts'
import type { WebhookRejectionReason } from './webhook-answer.ts'

/** A request, independent of the framework. */
export interface InboundRequest {
  method: string
  /** The values of the signature header. */
  signature: SignatureHeader
  /** The Content-Length header. Absent if the body is already in memory. */
  contentLength?: string | null | undefined
  /** Resolves when the body has arrived, at the latest at the deadline. */
  readBody(limits: BodyLimits): Promise<BodyRead>
  /** Keeps the runtime alive until the promise settles. */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/** A verified, well-formed message. */
export interface Message {
  event: WebhookEvent
  rawBody: Uint8Array
  secretIndex: number
}

/** A message, or the reason to reject the request. */
export type MessageRead =
  | { ok: true; message: Message }
  | { ok: false; reason: WebhookRejectionReason; diagnose?: () => Finding[] }

/** The header of the signature. Interface: [Signature](/the-service#signature). */
export const SIGNATURE_HEADER = 'x-service-signature'

/** Reads and verifies the message of a request. The cheapest checks come first. */
export async function readMessage(
  request: InboundRequest,
  settings: ReceiverSettings,
  reports: ReceiverReports,
  deadline: Deadline,
): Promise<MessageRead> {
  if (request.method !== 'POST') return { ok: false, reason: 'method_not_allowed' }
  const header = request.signature
  const signature = readSignature(header)
  if (!signature.ok) return { ...signature, diagnose: () => diagnoseHeader(header) }
  if (Number(request.contentLength ?? 0) > settings.maxBodyBytes) return { ok: false, reason: 'too_large' }

  const body = await request.readBody({ maxBytes: settings.maxBodyBytes, deadline })
  if (!body.ok) {
    if (body.reason !== 'body_not_raw') return { ok: false, reason: body.reason }
    reports.error(new WebhookError('body_not_raw', body.detail), 'body')
    return { ok: false, reason: body.reason, diagnose: () => [finding('parsed_body')] }
  }

  let secret: WebhookSecret
  let secretIndex: number
  try {
    secret = typeof settings.secret === 'function' ? await askForSecret(settings.secret, deadline) : settings.secret
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

async function askForSecret(
  source: Extract<ReceiverSettings['secret'], () => unknown>,
  deadline: Deadline,
): Promise<WebhookSecret> {
  const secret = await deadline.meet((async () => source())())
  if (secret === LATE)
    throw new Error(`The secret function did not answer within ${deadline.delayMs} ms of the request.`)
  return secret
}
