import type { CampaignClientOptions } from '../options.ts'
import { isLoopback } from '../shared/http.ts'
import { warnOnce } from '../shared/warn-once.ts'

/** The characters that a header allows in a token. */
const BEARER_TOKEN = /^[\x21-\x7e]+$/

/** The message about an unusable token. */
export const TOKEN_RULE = 'must be a non-empty token without white space, line breaks or the prefix "Bearer "'

/** Returns the trimmed token; `undefined` if the value is not a token. */
export function bearerToken(value: unknown): string | undefined {
  const token = typeof value === 'string' ? value.trim() : ''
  return BEARER_TOKEN.test(token) ? token : undefined
}

/** Shorter secrets are not redacted, because they may match ordinary text by chance. */
export const MIN_SECRET_LENGTH = 8

/**
 * Warns once per process about a token or a secret that is too short to be redacted. Tests often have short secrets:
 * they use their own `fetch` or a loopback address, and get no warning.
 */
export function warnOfShortSecret(
  secret: string,
  { baseUrl, fetch }: { readonly baseUrl: string; readonly fetch: CampaignClientOptions['fetch'] },
): void {
  if (secret.length >= MIN_SECRET_LENGTH || fetch !== undefined || isLoopback(new URL(baseUrl).hostname)) return
  warnOnce(
    'short-secret',
    `campaign-client: an access token or webhook secret has fewer than ${MIN_SECRET_LENGTH} characters. It is not ` +
      'redacted from error messages; use a longer one.',
  )
}
