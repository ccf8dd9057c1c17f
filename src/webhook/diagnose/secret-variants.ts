import type { WebhookKey } from '../verify/secret.ts'
import { fromBase64, fromHex, toBase64, toHex, toText } from './encoded-bytes.ts'
import type { SecretFindingCode } from './finding.ts'

/** A key that may be the real one, and how it became the one at hand. */
export interface SecretVariant {
  codes: SecretFindingCode[]
  key: WebhookKey
}

/** What a secret may be; itself first. No key is empty. */
export function* variantsOfSecret(secret: WebhookKey): Generator<SecretVariant> {
  yield { codes: [], key: secret }
  const text = typeof secret === 'string' ? secret : toText(secret)
  if (text !== undefined) yield* variantsOfText(text)
  if (typeof secret === 'string') return
  const base64 = toBase64(secret)
  const base64url = base64.replaceAll('+', '-').replaceAll('/', '_')
  const texts = [toHex(secret), toHex(secret).toUpperCase(), base64, base64url, base64url.replaceAll('=', '')]
  for (const key of new Set(texts)) yield { codes: ['decoded_secret'], key }
}

/** Of a text, or of bytes that are one: a secret read from a file without an encoding. */
function* variantsOfText(text: string): Generator<SecretVariant> {
  const trimmed = text.trim()
  const bare = trimmed.replace(/^(["'`])(.+)\1$/s, '$2')
  const around: SecretFindingCode[] = []
  if (trimmed !== text) around.push('secret_whitespace')
  if (bare !== trimmed) around.push('quoted_secret')
  if (around.length > 0 && bare !== '') yield { codes: around, key: bare }

  const hex = fromHex(bare)
  if (hex) yield { codes: [...around, 'hex_secret'], key: hex }
  const base64 = fromBase64(bare)
  if (base64?.length) yield { codes: [...around, 'base64_secret'], key: base64 }
  // Some services hand out base64 behind a name, such as whsec_.
  const named = fromBase64(bare.replace(/^[a-z]+_/, ''))
  if (named?.length) yield { codes: [...around, 'base64_secret'], key: named }
}
