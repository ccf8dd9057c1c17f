import type { IncomingMessage } from 'node:http'
import { readBytes } from '../../shared/byte-chunks.ts'

/** Enough for a seed with thousands of users. */
const MAX_BODY_BYTES = 64_000_000

/** Reads the JSON of a request. Returns the status and text of the refusal when there is none. */
export async function readJson(
  request: IncomingMessage,
): Promise<{ readonly value: unknown } | { readonly status: number; readonly error: string }> {
  // Forms of another site cannot send this type. Scripts of another site need a CORS preflight, which fails.
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? '')) {
    return { status: 415, error: 'Send JSON, with the header content-type: application/json.' }
  }
  const { bytes, isWhole } = await readBytes(request, MAX_BODY_BYTES)
  if (!isWhole) return { status: 413, error: `Send JSON of at most ${MAX_BODY_BYTES / 1e6} MB.` }
  try {
    return { value: JSON.parse(new TextDecoder().decode(bytes)) }
  } catch {
    return { status: 400, error: 'The body is not JSON.' }
  }
}
