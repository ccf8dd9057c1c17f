import { isError } from '../shared/type-checks.ts'
import { TransportError } from '../transports/transport.ts'

/** The digests of Next.js that do not begin with `NEXT_`. They make a page dynamic, or end a prerender. */
const DIGESTS: readonly unknown[] = [
  'DYNAMIC_SERVER_USAGE',
  'BAILOUT_TO_CLIENT_SIDE_RENDERING',
  'HANGING_PROMISE_REJECTION',
]

/**
 * Returns the signal of Next.js that `fetch` or the token source has thrown, such as `redirect()` or `cookies()` in a static page.
 * Returns `undefined` for any other error. Next.js needs the signal unchanged. Ordinary errors may have a `digest` too, with another
 * value.
 */
export function nextSignalOf(thrown: unknown): unknown {
  const error = thrown instanceof TransportError ? thrown.cause : thrown
  return isNextSignal(error) ? error : undefined
}

function isNextSignal(error: unknown): boolean {
  if (!isError(error)) return false
  const digest = readDigest(error)
  return typeof digest === 'string' && (digest.startsWith('NEXT_') || DIGESTS.includes(digest))
}

/** A thrown value may be anything, even an error whose getter throws. */
function readDigest(error: Error): unknown {
  try {
    return (error as { digest?: unknown }).digest
  } catch {
    return undefined
  }
}
