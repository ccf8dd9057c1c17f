import { createHmac, timingSafeEqual } from 'node:crypto'

export function hmacSha256Hex(key: string | Uint8Array, message: string | Uint8Array): string {
  return createHmac('sha256', key).update(message).digest('hex')
}

export function equalDigests(expected: string, given: string): boolean {
  return timingSafeEqual(Buffer.from(expected, 'latin1'), Buffer.from(given, 'latin1'))
}
