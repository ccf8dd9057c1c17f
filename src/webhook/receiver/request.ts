import { WebhookError } from '../../errors/webhook-errors.ts'
import type { ByteChunks } from '../../shared/byte-chunks.ts'
import { isUint8Array } from '../../shared/type-checks.ts'
import { diagnoseHeader, diagnoseWebhook, type Finding, finding } from '../diagnose.ts'
import { decodeMessage, type WebhookEvent } from '../event.ts'
import { findSigner, readSignature, type SignatureHeader, toKeys, toRawBody, type WebhookSecret } from '../signature.ts'
import type { ReceiverSettings } from './options.ts'
import type { ReceiverReports } from './reports.ts'
import type { WebhookRejectionReason } from './responses.ts'

/** The header of the signature. See "Signature" in docs/the-service.md. */
export const SIGNATURE_HEADER = 'x-service-signature'

/** A request, independent of the framework. */
export interface InboundRequest {
  method: string
  signature: SignatureHeader
  /** The Content-Length header. Absent if the body is already in memory. */
  contentLength?: string | null | undefined
  /** Resolves when the body has arrived, at the latest at the deadline. */
  readBody(limits: BodyLimits): Promise<BodyRead>
  /** Keeps the runtime alive until the promise settles. */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

export interface BodyLimits {
  maxBytes: number
  deadline: Deadline
}

export type BodyRead = { ok: true; bytes: Uint8Array } | BodyFailure

export type BodyFailure =
  | { ok: false; reason: 'too_large' | 'body_aborted' | 'body_timeout' }
  /** `detail` is the message of the error: the likely cause, and a fix. */
  | { ok: false; reason: 'body_not_raw'; detail: string }

/** A verified, well-formed message. */
export interface Message {
  event: WebhookEvent
  rawBody: Uint8Array
  /** `null` for a kept message, whose signature was verified before. */
  secretIndex: number | null
}

/** A message, or the reason to reject the request. */
type MessageRead =
  | { ok: true; message: Message }
  | { ok: false; reason: WebhookRejectionReason; diagnose?: () => Finding[] }

/** Reads and verifies the message of a request. The cheapest checks come first. */
export async function readMessage(
  request: InboundRequest,
  settings: ReceiverSettings,
  reports: ReceiverReports,
  deadline: Deadline,
): Promise<MessageRead> {
  if (request.method !== 'POST') return { ok: false, reason: 'method_not_allowed' }
  const header = request.signature
  const signature = readSignature(header)
  if (!signature.ok) return { ...signature, diagnose: () => diagnoseHeader(header) }
  if (Number(request.contentLength ?? 0) > settings.maxBodyBytes) return { ok: false, reason: 'too_large' }

  const body = await request.readBody({ maxBytes: settings.maxBodyBytes, deadline })
  if (!body.ok) {
    if (body.reason !== 'body_not_raw') return { ok: false, reason: body.reason }
    reports.error(new WebhookError('body_not_raw', body.detail), 'body')
    return { ok: false, reason: body.reason, diagnose: () => [finding('parsed_body')] }
  }

  let secret: WebhookSecret
  let secretIndex: number
  try {
    secret = typeof settings.secret === 'function' ? await callSecret(settings.secret, deadline) : settings.secret
    secretIndex = findSigner(toKeys(secret), body.bytes, signature.digits)
  } catch (error) {
    reports.error(error, 'secret')
    return { ok: false, reason: 'secret_unavailable' }
  }
  if (secretIndex < 0) {
    return { ok: false, reason: 'signature_mismatch', diagnose: () => diagnoseWebhook(secret, body.bytes, header) }
  }

  const decoded = decodeMessage(body.bytes)
  if (!decoded.ok) return decoded
  return { ok: true, message: { event: decoded.event, rawBody: body.bytes, secretIndex } }
}

async function callSecret(source: () => unknown, deadline: Deadline): Promise<WebhookSecret> {
  const secret = await deadline.meet((async () => source() as WebhookSecret)())
  if (secret !== LATE) return secret
  throw new Error(`the secret function did not settle within ${deadline.delayMs} ms of the request`)
}

/** The result of {@link Deadline.meet} when the time is up. */
export const LATE: unique symbol = Symbol('late')

/** The time limit of one request. Its timer keeps a Node process alive, so call `clear()` in a `finally`. */
export class Deadline {
  /** The time limit in milliseconds. */
  readonly delayMs: number
  readonly #at: number
  readonly #timer: ReturnType<typeof setTimeout>
  readonly #callbacks: (() => void)[] = []
  #fired = false

  constructor(delayMs: number) {
    this.delayMs = delayMs
    this.#at = performance.now() + delayMs
    this.#timer = setTimeout(
      () => {
        this.#fired = true
        for (const callback of this.#callbacks) callback()
      },
      Math.max(0, delayMs),
    )
  }

  /** Whether the time is up. Checks the clock too, because a blocked event loop delays timers. */
  get passed(): boolean {
    return this.#fired || performance.now() >= this.#at
  }

  /** Calls `callback` when the time is up. */
  onPassed(callback: () => void): void {
    this.#callbacks.push(callback)
  }

  /** Resolves like `promise`, or to `LATE` when the time is up first. Ignores a later rejection. */
  meet<T>(promise: PromiseLike<T>): Promise<T | typeof LATE> {
    return new Promise((resolve, reject) => {
      this.onPassed(() => resolve(LATE))
      promise.then(resolve, reject)
      if (this.passed) resolve(LATE)
    })
  }

  clear(): void {
    clearTimeout(this.#timer)
  }
}

const OBJECT_STREAM =
  'the chunks of the request stream are neither bytes nor text: a middleware replaced the stream before the receiver'

/** Adds a chunk to a body. After a failure, stop reading. */
export function addChunk(body: ByteChunks, chunk: unknown): BodyFailure | undefined {
  const bytes = rawBytes(chunk)
  if (bytes === undefined) return { ok: false, reason: 'body_not_raw', detail: OBJECT_STREAM }
  return body.add(bytes) ? undefined : { ok: false, reason: 'too_large' }
}

/** Returns the bytes of a chunk or of a whole body, or `undefined` when the value is neither text nor bytes. */
export function rawBytes(body: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(body) && !isUint8Array(body)) {
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
  }
  const raw = toRawBody(body)
  return typeof raw === 'string' ? new TextEncoder().encode(raw) : raw
}

export function wholeBody(bytes: Uint8Array, maxBytes: number): BodyRead {
  return bytes.byteLength > maxBytes ? { ok: false, reason: 'too_large' } : { ok: true, bytes }
}
