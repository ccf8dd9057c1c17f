import { exampleActivity } from '../../webhook/activity.ts'

/** The body of a user activity with non-ASCII text. */
export const activity = (id: string, fields: Record<string, unknown> = {}): string =>
  JSON.stringify(exampleActivity({ id, user: 'Ада 🚀', ...fields }))

/** Signs a body with WebCrypto, independently of the package. */
export async function signatureOf(secret: Uint8Array | string, body: Uint8Array | string): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytesOf(secret), algorithm, false, ['sign'])
  return hexOf(new Uint8Array(await crypto.subtle.sign('HMAC', key, bytesOf(body))))
}

export const bytesOf = (value: Uint8Array | string): Uint8Array<ArrayBuffer> =>
  typeof value === 'string' ? new TextEncoder().encode(value) : new Uint8Array(value)

const hexOf = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
