import { createHmac, randomUUID } from 'node:crypto'

export const SECRET = 'whsec_3Vf9qkT0a1'
export const HEADER = 'x-service-signature'

/** A user activity as the service sends it. */
export function activity(fields: Record<string, unknown> = {}): { id: string } & Record<string, unknown> {
  return {
    id: `msg-${randomUUID()}`,
    scope: 'user_activity',
    user: 'u-1',
    wallet: '',
    email: '',
    campaign: { id: 'demo', name: 'Demo' },
    event: { type: 'action_completed', data: { action: { id: 'a-1', name: 'Follow', type: 'social' }, xp: 10 } },
    total_xp: 110,
    ref_xp: 0,
    ugc_xp: 0,
    xp_mul: 1,
    rank: 7,
    team: '',
    ...fields,
  }
}

/** Signs with node:crypto directly, so that a fault of the package cannot hide behind itself. */
export function sign(body: string | Uint8Array, secret: string = SECRET): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

export function signedHeaders(body: string | Uint8Array, secret?: string): Record<string, string> {
  return { 'content-type': 'application/json', [HEADER]: sign(body, secret) }
}

/** The request of one delivery attempt of `message`. */
export function deliveryOf(message: unknown, init: { secret?: string; url?: string } = {}): Request {
  const body = typeof message === 'string' ? message : JSON.stringify(message)
  return new Request(init.url ?? 'http://receiver.test/webhooks/campaign', {
    method: 'POST',
    headers: signedHeaders(body, init.secret),
    body,
  })
}
