import type { Deadline } from '../deadline.ts'
import { BodyCollector, type BodyFailure, type BodyLimits, type BodyRead, rawBytes } from '../request-body.ts'
import { startTimer } from '../timers.ts'

/** The members of a Node readable stream that the receiver uses. Projects without Node's types can compile this type. */
export interface NodeReadable {
  readonly destroyed?: boolean
  readonly readableDidRead?: boolean
  readonly readableEnded?: boolean
  readonly readableFlowing?: boolean | null
  on(event: string, listener: (...values: unknown[]) => void): unknown
  removeListener(event: string, listener: (...values: unknown[]) => void): unknown
  listenerCount?(event: string): number
  read?(): unknown
  resume(): unknown
  destroy(): unknown
}

/** Whether something was read from the stream. If so, the remaining bytes are not the whole body. */
export function wasRead(stream: NodeReadable): boolean {
  return stream.readableDidRead === true || stream.readableEnded === true
}

/** Whether nothing was read from the stream. False if the object does not have `readableDidRead`. */
export function isUnread(stream: NodeReadable): boolean {
  return stream.readableDidRead === false && stream.readableEnded !== true && stream.destroyed !== true
}

/** Whether other code is reading the stream. */
export function isBeingRead(stream: NodeReadable): boolean {
  return stream.readableFlowing === true && stream.readableEnded === false && stream.destroyed !== true
}

/**
 * Waits until the stream has ended.
 *
 * @param onData - receives each chunk; returns a failure to stop waiting
 */
export function waitForEnd(
  stream: NodeReadable,
  deadline: Deadline,
  onData?: (chunk: unknown) => BodyFailure | undefined,
): Promise<BodyFailure | undefined> {
  return new Promise((resolve) => {
    const onAborted = (): void => stop({ ok: false, reason: 'body_aborted' })
    const listeners: [event: string, listener: (...values: unknown[]) => void][] = [
      ['end', () => stop(undefined)],
      ['error', onAborted],
      ['aborted', onAborted],
      ['close', onAborted],
    ]
    if (onData) {
      const onChunk = (chunk: unknown): void => {
        const failure = onData(chunk)
        if (failure) stop(failure)
      }
      listeners.push(['data', onChunk])
    }
    function stop(failure: BodyFailure | undefined): void {
      for (const [event, listener] of listeners) stream.removeListener(event, listener)
      resolve(failure)
    }
    deadline.onPassed(() => stop({ ok: false, reason: 'body_timeout' }))
    for (const [event, listener] of listeners) stream.on(event, listener)
  })
}

/** Makes the stream emit `data`. A stream with a `readable` listener emits `data` only when `read()` is called. */
function startReading(stream: NodeReadable): void {
  if ((stream.listenerCount?.('readable') ?? 0) === 0) {
    stream.resume()
    return
  }
  const readAll = (): void => {
    while ((stream.read?.() ?? null) !== null);
  }
  stream.on('readable', readAll)
  readAll()
}

/**
 * Reads a stream to its end. Uses listeners, because leaving a `for await` loop destroys the stream, and with it the
 * connection on which the answer is sent.
 */
export async function readStream(stream: NodeReadable, { maxBytes, deadline }: BodyLimits): Promise<BodyRead> {
  // Never removed, because an error without a listener would end the process.
  stream.on('error', () => {})
  // A destroyed stream emits no events.
  if (stream.destroyed) return { ok: false, reason: 'body_aborted' }
  const collector = new BodyCollector(maxBytes)
  const ended = waitForEnd(stream, deadline, (chunk) => collector.add(chunk))
  startReading(stream)
  return (await ended) ?? { ok: true, bytes: collector.bytes() }
}

const MAX_REST_BYTES = 1_048_576
const MAX_REST_MS = 5000

/**
 * Reads and drops the rest of a body after the answer, within limits. Closing the connection at once would reset it, and the
 * sender would often not see the answer.
 */
export function discardRest(stream: NodeReadable): void {
  if (stream.readableEnded || stream.destroyed) return
  let left = MAX_REST_BYTES
  const cancel = startTimer(MAX_REST_MS, () => stream.destroy())
  stream.on('error', cancel)
  stream.on('end', cancel)
  stream.on('close', cancel)
  stream.on('data', (chunk) => {
    left -= rawBytes(chunk)?.byteLength ?? 0
    if (left < 0) stream.destroy()
  })
  startReading(stream)
}
