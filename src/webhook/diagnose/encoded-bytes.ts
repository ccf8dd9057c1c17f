/** The bytes that hexadecimal text stands for, or `undefined` when it is none. */
export function fromHex(text: string): Uint8Array | undefined {
  if (!/^(?:[0-9a-f]{2})+$/i.test(text)) return undefined
  return Uint8Array.from(text.match(/../g) as string[], (digits) => Number.parseInt(digits, 16))
}

/** The bytes that base64 or base64url text stands for, padded or not, or `undefined` when it is none. */
export function fromBase64(text: string): Uint8Array | undefined {
  if (!/^[\w+/-]+={0,2}$/.test(text)) return undefined
  try {
    return fromLatin1(atob(text.replaceAll('-', '+').replaceAll('_', '/')))
  } catch {
    return undefined
  }
}

/** One byte per character, or `undefined` when a character is more than a byte. */
export function fromLatin1(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit > 0xff) return undefined
    bytes[i] = unit
  }
  return bytes
}

export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

export const toBase64 = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))

/** The text whose UTF-8 these bytes are, a byte order mark included, or `undefined` when they are none. */
export function toText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
