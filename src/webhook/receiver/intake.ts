import { safeParseWebhook } from '../event/parse.ts'
import type { WebhookEvent } from '../event/types.ts'
import { WebhookError } from '../event/webhook-error.ts'
import type { WebhookSecret } from '../verify/secret.ts'
import type { WebhookRejectionReason } from './answer.ts'
import type { BodyLimits, BodyRead } from './body.ts'
import { type Deadline, LATE } from './deadline.ts'
import type { ReceiverReports } from './reports.ts'
import type { ReceiverSettings } from './settings.ts'

/** A request as the adapters hand it over. */
export interface InboundRequest {
  method: string
  /** The value, or values, of the signature header. */
  signature: string | readonly string[] | null | undefined
  /** The declared length of the body, if the runtime still has the bytes to read. */
  contentLength?: string | null | undefined
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

export type Intake = { ok: true; message: Message } | { ok: false; reason: WebhookRejectionReason }

/** The header the service signs in. Interface: Events, Signature. */
export const SIGNATURE_HEADER = 'x-service-signature'

/** From a request to a message that surely comes from the service, or the reason why not. */
export async function takeIn(
  request: InboundRequest,
  settings: ReceiverSettings,
  reports: ReceiverReports,
  deadline: Deadline,
): Promise<Intake> {
  if (request.method !== 'POST') return { ok: false, reason: 'method_not_allowed' }
  // A length that lies is caught while reading; an honest one spares it.
  if (Number(request.contentLength ?? 0) > settings.maxBodyBytes) return { ok: false, reason: 'too_large' }

  const body = await deadline.meet(request.readBody({ maxBytes: settings.maxBodyBytes, signal: deadline.signal }))
  if (body === LATE) return { ok: false, reason: 'body_timeout' }
  if (!body.ok) {
    if (body.reason === 'body_not_raw') reports.error(new WebhookError('body_not_raw', body.detail), 'body')
    return { ok: false, reason: body.reason }
  }

  let parsed: ReturnType<typeof safeParseWebhook>
  try {
    parsed = safeParseWebhook(await currentSecret(settings, deadline), body.bytes, request.signature)
  } catch (error) {
    reports.error(error, 'secret')
    return { ok: false, reason: 'secret_unavailable' }
  }
  if (!parsed.ok) return { ok: false, reason: parsed.reason }
  return { ok: true, message: { event: parsed.event, rawBody: body.bytes, secretIndex: parsed.secretIndex } }
}

async function currentSecret({ secret }: ReceiverSettings, deadline: Deadline): Promise<WebhookSecret> {
  if (typeof secret !== 'function') return secret
  const given = await deadline.meet((async () => secret())())
  if (given === LATE)
    throw new Error(`The source of the secret gave none within ${deadline.delayMs} ms of the request.`)
  return given
}
