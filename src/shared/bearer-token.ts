/** What a header can carry in one word. */
const BEARER_TOKEN = /^[\x21-\x7e]+$/

/** What a token has to be, to end a sentence about one that is not. */
export const TOKEN_RULE = 'must be a non-empty token without white space, line breaks or a "Bearer " in front'

/** The token as a header can carry it, without the white space around it. `undefined` for what is no token. */
export function bearerToken(value: unknown): string | undefined {
  const token = typeof value === 'string' ? value.trim() : ''
  return BEARER_TOKEN.test(token) ? token : undefined
}
