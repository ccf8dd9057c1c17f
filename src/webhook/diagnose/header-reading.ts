import { fromBase64, toHex } from './encoded-bytes.ts'
import type { HeaderFindingCode } from './finding.ts'

/** What a header says, and what is wrong with how it says it. */
export interface HeaderReading {
  codes: HeaderFindingCode[]
  /** The digests it may mean, as 64 lowercase hexadecimal digits. */
  digests: string[]
}

/** Reads a signature the way a human would. Never for accepting one. */
export function readHeader(header: unknown): HeaderReading {
  const values = valuesOf(header)
  if (values.length === 0) return { codes: ['missing_signature'], digests: [] }
  const readings = values.map(readValue)
  const legible = readings.filter(({ digests }) => digests.length > 0)
  const codes = new Set<HeaderFindingCode>(values.length > 1 ? ['several_signatures'] : [])
  for (const reading of legible.length > 0 ? legible : readings) {
    for (const code of reading.codes) codes.add(code)
  }
  return { codes: [...codes], digests: legible.flatMap(({ digests }) => digests) }
}

/** Each value, those that a fetch implementation joined with commas taken apart again. Empty ones are none. */
function valuesOf(header: unknown): string[] {
  try {
    const list: unknown[] = Array.isArray(header) ? [...header] : [header]
    const texts = list.filter((value) => value !== undefined && value !== null)
    return texts.flatMap((value) =>
      typeof value === 'string' ? value.split(',').filter((part) => part.trim()) : ['?'],
    )
  } catch {
    return ['?']
  }
}

function readValue(value: string): HeaderReading {
  const codes: HeaderFindingCode[] = []
  const bare = value.trim().replace(/^(["'])(.*)\1$/, '$2')
  if (bare !== value) codes.push('signature_whitespace')

  // Base64 may end in `=`, so a prefix needs something after it.
  const digits = bare.replace(/^(?:0x|[a-z][\w-]{0,15}[=:]\s*)(?=[^=])/i, '')
  if (digits !== bare) codes.push('prefixed_signature')

  if (/^[0-9a-f]{64}$/i.test(digits)) {
    if (/[A-F]/.test(digits)) codes.push('uppercase_signature')
    return { codes, digests: [digits.toLowerCase()] }
  }
  const bytes = fromBase64(digits)
  if (bytes?.length === 32) return { codes: [...codes, 'base64_signature'], digests: [toHex(bytes)] }
  return { codes: ['malformed_signature'], digests: [] }
}
