import { createHmac, randomUUID } from 'node:crypto'
import { exampleActivity } from './activity.ts'

export const SECRET = 'whsec_3Vf9qkT0a1'
export const HEADER = 'x-service-signature'

/** A user activity with a unique id. */
export const activity = (fields: Record<string, unknown> = {}): { id: string } & Record<string, unknown> =>
  exampleActivity({ id: `msg-${randomUUID()}`, ...fields })

/** Signs with node:crypto, so that the tests do not depend on signWebhook. */
export function sign(body: string | Uint8Array, secret: string = SECRET): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

export function signedHeaders(body: string | Uint8Array, secret?: string): Record<string, string> {
  return { 'content-type': 'application/json', [HEADER]: sign(body, secret) }
}

/** A well-formed signature, so that the receiver reads the body. */
export const WELL_FORMED: Readonly<Record<string, string>> = { [HEADER]: 'a'.repeat(64) }

/** Returns the request of one attempt to deliver `message`. */
export function deliveryOf(message: unknown, init: { secret?: string; url?: string } = {}): Request {
  const body = typeof message === 'string' ? message : JSON.stringify(message)
  return new Request(init.url ?? 'http://receiver.test/webhooks/campaign', {
    method: 'POST',
    headers: signedHeaders(body, init.secret),
    body,
  })
}
