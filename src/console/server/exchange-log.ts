import type { RequestAnsweredEvent } from 'campaign-client/testing'
import type { BodyView, RequestRow, RequestView } from '../protocol.ts'
import { toCurl } from './curl.ts'

export type Exchange = Pick<RequestAnsweredEvent, 'request' | 'answer'>
type Details = Omit<RequestView, keyof RequestRow | 'isDropped'>

/** Of an answer; the service keeps as much of the body of a request. */
const MAX_ANSWER_BYTES = 256_000
/** Of all requests together. */
const MAX_TOTAL_BYTES = 50_000_000
/** Headers, and the objects that hold everything. */
const OVERHEAD_BYTES = 2000

const DROPPED: Details = { query: {}, headers: {}, authorized: true, handled: true }

/** Headers and bodies of the latest requests, within a limit of memory. */
export class ExchangeLog {
  readonly #details = new Map<string, { readonly details: Details; readonly bytes: number }>()
  #totalBytes = 0

  addExchange(key: string, { request, answer }: Exchange): void {
    const { query, headers, authorized, handled, bodyText: text, bodySize: bytes, isBodyCut: isCut } = request
    this.add(key, {
      ...{ query, headers, authorized, handled },
      ...(text !== undefined && { body: { text, bytes, isCut } }),
      ...(answer && { answer: { headers: answer.headers, body: keptAnswer(answer.body) } }),
      ...(!isCut && { curl: toCurl(request) }),
    })
  }

  add(key: string, details: Details): void {
    const { body, answer, curl = '' } = details
    const bytes = OVERHEAD_BYTES + (body?.text.length ?? 0) + (answer?.body.text.length ?? 0) + curl.length
    this.#details.set(key, { details, bytes })
    this.#totalBytes += bytes
    for (const [oldest, entry] of this.#details) {
      if (this.#totalBytes <= MAX_TOTAL_BYTES) return
      this.#details.delete(oldest)
      this.#totalBytes -= entry.bytes
    }
  }

  view(key: string): Details & Pick<RequestView, 'isDropped'> {
    const entry = this.#details.get(key)
    return { ...(entry?.details ?? DROPPED), isDropped: entry === undefined }
  }

  clear(): void {
    this.#details.clear()
    this.#totalBytes = 0
  }
}

function keptAnswer(text: string): BodyView {
  const bytes = Buffer.byteLength(text)
  const isCut = bytes > MAX_ANSWER_BYTES
  return { text: isCut ? Buffer.from(text).subarray(0, MAX_ANSWER_BYTES).toString('utf8') : text, bytes, isCut }
}
