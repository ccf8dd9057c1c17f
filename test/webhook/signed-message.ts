import { createHmac, randomUUID } from 'node:crypto'
import { exampleActivity } from './activity.ts'

export const SECRET = 'whsec_3Vf9qkT0a1'
export const HEADER = 'x-service-signature'

/** A user activity with an id that no other has. */
export const activity = (fields: Record<string, unknown> = {}): { id: string } & Record<string, unknown> =>
  exampleActivity({ id: `msg-${randomUUID()}`, ...fields })

/** Signs with node:crypto directly, so that a fault of the package cannot hide behind itself. */
export function sign(body: string | Uint8Array, secret: string = SECRET): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

export function signedHeaders(body: string | Uint8Array, secret?: string): Record<string, string> {
  return { 'content-type': 'application/json', [HEADER]: sign(body, secret) }
}

/** A header that could be a signature, so that the body is looked at. */
export const PLAUSIBLE: Readonly<Record<string, string>> = { [HEADER]: 'a'.repeat(64) }

/** The request of one delivery attempt of `message`. */
export function deliveryOf(message: unknown, init: { secret?: string; url?: string } = {}): Request {
  const body = typeof message === 'string' ? message : JSON.stringify(message)
  return new Request(init.url ?? 'http://receiver.test/webhooks/campaign', {
    method: 'POST',
    headers: signedHeaders(body, init.secret),
    body,
  })
}
