import { ByteChunks } from '../../../shared/byte-chunks.ts'
import { hasMethod, typeName } from '../../../shared/type-checks.ts'
import type { Receiver } from '../receiver.ts'
import { addChunk, type BodyLimits, type BodyRead, SIGNATURE_HEADER } from '../request.ts'

/** The context of a runtime, such as `ctx` of Workers. `waitUntil` keeps the runtime alive after the response. */
export interface WaitUntilContext {
  /** Keeps the runtime alive until the promise settles. */
  waitUntil(work: Promise<unknown>): void
}

/** See `WebhookReceiver.fetch`. Only `waitUntil` of the second argument is used. */
export type FetchHandler = (request: Request, context?: WaitUntilContext | object) => Promise<Response>

export function fetchAdapter(receiver: Receiver): FetchHandler {
  return async (request, context) => {
    // `instanceof` fails for a polyfill, and for a `Request` of another realm.
    if (typeof request?.method !== 'string' || typeof request.headers?.get !== 'function') {
      throw new TypeError(
        `receiver.fetch takes a Request of the fetch API, and got ${typeName(request)}. Hono: context.req.raw; ` +
          'node:http, Express and Nest: receiver.node(req, res).',
      )
    }
    return receiver.accept(
      {
        method: request.method,
        signature: request.headers.get(SIGNATURE_HEADER),
        contentLength: request.headers.get('content-length'),
        readBody: (limits) => readRequestBody(request, limits),
        // `waitUntil` of Workers needs `this`, so call it as a method.
        waitUntil: (work) => hasMethod(context, 'waitUntil') && (context as WaitUntilContext).waitUntil(work),
      },
      ({ status, headers, body }) => new Response(body, { status, headers }),
    )
  }
}

async function readRequestBody(request: Request, limits: BodyLimits): Promise<BodyRead> {
  if (request.bodyUsed || request.body?.locked) {
    return {
      ok: false,
      reason: 'body_not_raw',
      detail:
        'the body of the Request was read before the receiver (bodyUsed): something called json(), text() or formData(); ' +
        'pass the Request before its body is read, or a clone() that was made before',
    }
  }
  return request.body ? readWebStream(request.body, limits) : { ok: true, bytes: new Uint8Array() }
}

/** Reads a stream that nobody has read or locked. */
export async function readWebStream(
  stream: ReadableStream<unknown>,
  { maxBytes, deadline }: BodyLimits,
): Promise<BodyRead> {
  const reader = stream.getReader()
  const cancel = (): void => void reader.cancel().catch(() => {})
  deadline.onPassed(cancel)
  const body = new ByteChunks(maxBytes)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (deadline.passed) return { ok: false, reason: 'body_timeout' }
      if (done) return { ok: true, bytes: body.concat() }
      const failure = addChunk(body, value)
      if (failure) {
        cancel()
        return failure
      }
    }
  } catch {
    return { ok: false, reason: 'body_aborted' }
  }
}
