import { diagnoseHeader, diagnoseWebhook } from '../diagnose/diagnose-webhook.ts'
import { type Finding, finding } from '../diagnose/finding.ts'
import { decodeMessage } from '../event/parse.ts'
import type { WebhookEvent } from '../event/types.ts'
import { WebhookError } from '../event/webhook-error.ts'
import { toKeys, type WebhookSecret } from '../verify/secret.ts'
import { findSigner, readSignature, type SignatureHeader } from '../verify/signature.ts'
import type { BodyLimits, BodyRead } from './body-collector.ts'
import { type Deadline, LATE } from './deadline.ts'
import type { ReceiverReports } from './receiver-reports.ts'
import type { ReceiverSettings } from './receiver-settings.ts'
import type { WebhookRejectionReason } from './webhook-answer.ts'

/** A request in the form that all adapters share. */
export interface InboundRequest {
  method: string
  /** The value, or values, of the signature header. */
  signature: SignatureHeader
  /** The declared length of the body, if its bytes are yet to be read. */
  contentLength?: string | null | undefined
  /** Resolves when the body has arrived, and at the deadline at the latest. */
  readBody(limits: BodyLimits): Promise<BodyRead>
  /** Keeps the runtime alive until the promise settles, where it would stop after the answer. */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/** A message with a right signature and a valid form. */
export interface Message {
  event: WebhookEvent
  rawBody: Uint8Array
  secretIndex: number
}

/** A message, or why the request is rejected. */
export type MessageRead =
  | { ok: true; message: Message }
  | { ok: false; reason: WebhookRejectionReason; diagnose?: () => Finding[] }

/** The header of the signature. Interface: [Signature](/the-service#signature). */
export const SIGNATURE_HEADER = 'x-service-signature'

/** Reads and verifies the message of a request, with the cheapest checks first. */
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
  // A body that is longer than declared is refused while it is read.
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
  if (secret === LATE) {
    throw new Error(`The source of the secret did not answer within ${deadline.delayMs} ms of the request.`)
  }
  return secret
}
