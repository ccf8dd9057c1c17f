import { hmacSha256Hex } from '#hmac'
import { type RawBody, toRawBody } from '../verify/raw-body.ts'
import { toKeys, type WebhookKey, type WebhookSecret } from '../verify/secret.ts'
import { checkSignature, type SignatureHeader } from '../verify/signature.ts'
import { type BodyVariant, variantsOfParsed, variantsOfRaw } from './body-variants.ts'
import { type Finding, type FindingCode, finding } from './finding.ts'
import { readHeader } from './header-reading.ts'
import { variantsOfSecret } from './secret-variants.ts'

/** Beyond this many characters or bytes, a fault of the body and one of the secret are looked for one at a time. */
const MAX_COMBINED = 65_536

/**
 * Finds out why a message does not verify, and says what to do. For development: it hashes the body some hundred times,
 * so keep it away from strangers. It never accepts anything; use `verifyWebhook` for that.
 *
 * No finding holds a secret, a signature or anything of the body, so they are safe to print.
 *
 * Interface: [Signature](../../../docs/the-service.md#signature).
 *
 * @param secret - as for `verifyWebhook`
 * @param rawBody - as for `verifyWebhook`; a parsed body is looked at too
 * @param header - as for `verifyWebhook`
 * @returns what was found, in the order header, body, secret. Empty when the message verifies with the secret, or with
 * the first of a list. A last `unexplained` says that none of the usual causes fits.
 * @throws TypeError when the secret is unusable; nothing else throws
 */
export function diagnoseWebhook(secret: WebhookSecret, rawBody: RawBody, header: SignatureHeader): Finding[] {
  const keys = toKeys(secret)
  const checked = checkSignature(secret, rawBody, header)
  if (checked.ok) return checked.secretIndex === 0 ? [] : [finding('other_secret_matches')]

  const { codes: headerCodes, digests } = readHeader(header)
  const body = toRawBody(rawBody)
  const cause = firstMatch(keys, body, rawBody, new Set(digests))
  const codes = new Set<FindingCode>([...headerCodes, ...bodyCodes(body, rawBody), ...(cause ?? [])])
  if (!cause && typeof body === 'string' && body.includes('\ufffd')) codes.add('lossy_text')
  // Without a legible signature or with a body that is gone, there is nothing left to explain.
  if (!cause && digests.length > 0 && codes.size === headerCodes.length) codes.add('unexplained')
  return [...codes].map(finding)
}

/** What is wrong with the header alone, where there is no body to look at. */
export const diagnoseHeader = (header: unknown): Finding[] => readHeader(header).codes.map(finding)

/** What is wrong with the body whatever its signature says. */
function bodyCodes(body: string | Uint8Array | undefined, given: unknown): FindingCode[] {
  if (given === undefined || given === null || body?.length === 0) return ['missing_body']
  return body === undefined || body === '[object Object]' ? ['parsed_body'] : []
}

/** The faults that, undone together, make the signature right; the fewest first. */
function firstMatch(
  keys: readonly WebhookKey[],
  body: string | Uint8Array | undefined,
  given: unknown,
  digests: ReadonlySet<string>,
): FindingCode[] | undefined {
  if (digests.size === 0) return undefined
  const secrets = keys.flatMap((key, index) =>
    [...variantsOfSecret(key)].map(({ codes, key }) => ({
      codes: index === 0 ? codes : [...codes, 'other_secret_matches' as const],
      key,
    })),
  )
  const variants = (): Generator<BodyVariant> => (body === undefined ? variantsOfParsed(given) : variantsOfRaw(body))
  const combined = (body?.length ?? 0) <= MAX_COMBINED

  let best: FindingCode[] | undefined
  for (const variant of variants()) {
    for (const { codes, key } of secrets) {
      const faults = [...variant.codes, ...codes]
      if (best && faults.length >= best.length) continue
      if (!combined && variant.codes.length > 0 && codes.length > 0) continue
      if (digests.has(hmacSha256Hex(key, variant.body))) best = faults
    }
  }
  return best
}
