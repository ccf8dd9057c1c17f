/** A user activity as the service sends it. */
export function activity(id: string, fields: Record<string, unknown> = {}): string {
  return JSON.stringify({
    id,
    scope: 'user_activity',
    user: 'Ада 🚀',
    wallet: '',
    email: '',
    campaign: { id: 'demo', name: 'Demo' },
    event: { type: 'action_completed', data: { action: { id: 'follow', name: 'Follow', type: 'social' }, xp: 10 } },
    total_xp: 110,
    ref_xp: 0,
    ugc_xp: 0,
    xp_mul: 1,
    rank: 7,
    team: '',
    ...fields,
  })
}

/** The signature of a body by WebCrypto, so that a fault of the package cannot hide behind itself. */
export async function signatureOf(secret: Uint8Array | string, body: Uint8Array | string): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytesOf(secret), algorithm, false, ['sign'])
  return hexOf(new Uint8Array(await crypto.subtle.sign('HMAC', key, bytesOf(body))))
}

export const bytesOf = (value: Uint8Array | string): Uint8Array<ArrayBuffer> =>
  typeof value === 'string' ? new TextEncoder().encode(value) : new Uint8Array(value)

export const fromHex = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16))

const hexOf = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
