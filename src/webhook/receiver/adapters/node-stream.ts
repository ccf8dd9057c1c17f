import { BodyCollector, type BodyFailure, type BodyLimits, type BodyRead, rawBytes } from '../body-collector.ts'
import type { Deadline } from '../deadline.ts'
import { startTimer } from '../timers.ts'

/** The part of a Node readable stream that is used. A type of `node:` would make edge projects depend on Node's types. */
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

/** Whether the stream was read before, so that its rest is not the whole body. */
export function wasRead(stream: NodeReadable): boolean {
  return stream.readableDidRead === true || stream.readableEnded === true
}

/** Whether nothing was read from the stream. False for objects that only look like a stream and cannot tell. */
export function isUnread(stream: NodeReadable): boolean {
  return stream.readableDidRead === false && stream.readableEnded !== true && stream.destroyed !== true
}

/** Whether the stream is being read by someone else. */
export function isBeingRead(stream: NodeReadable): boolean {
  return stream.readableFlowing === true && stream.readableEnded === false && stream.destroyed !== true
}

/** Waits until the other reader has read the stream to its end. */
export function readByOthers(stream: NodeReadable, deadline: Deadline): Promise<BodyFailure | undefined> {
  return new Promise((resolve) => {
    const onAborted = (): void => settle({ ok: false, reason: 'body_aborted' })
    const listeners: [event: string, listener: () => void][] = [
      ['end', () => settle(undefined)],
      ['error', onAborted],
      ['aborted', onAborted],
      ['close', onAborted],
    ]
    deadline.onPassed(() => settle({ ok: false, reason: 'body_timeout' }))
    function settle(failure: BodyFailure | undefined): void {
      for (const [event, listener] of listeners) stream.removeListener(event, listener)
      resolve(failure)
    }
    for (const [event, listener] of listeners) stream.on(event, listener)
  })
}

/**
 * Whether a listener of `readable` keeps the stream from flowing. Then data arrives only on `read()`, never by itself on a
 * listener of `data`.
 */
const isHeld = (stream: NodeReadable): boolean => (stream.listenerCount?.('readable') ?? 0) > 0

/** Reads what has arrived. It is emitted to all listeners of `data`. */
function drain(stream: NodeReadable): void {
  while ((stream.read?.() ?? null) !== null);
}

/**
 * Reads a stream to its end. It listens instead of iterating, because leaving a loop destroys the stream and the
 * connection before an answer can be sent.
 */
export function readStream(stream: NodeReadable, { maxBytes, deadline }: BodyLimits): Promise<BodyRead> {
  return new Promise((resolve) => {
    const collector = new BodyCollector(maxBytes)
    const listeners: [event: string, listener: (...values: unknown[]) => void][] = [
      ['data', onData],
      ['end', () => settle({ ok: true, bytes: collector.bytes() })],
      ['aborted', onAborted],
      ['close', onAborted],
    ]
    const held = isHeld(stream)
    if (held) listeners.push(['readable', () => drain(stream)])

    function settle(result: BodyRead): void {
      for (const [event, listener] of listeners) stream.removeListener(event, listener)
      resolve(result)
    }
    function onData(chunk: unknown): void {
      const failure = collector.add(chunk)
      if (failure) settle(failure)
    }
    function onAborted(): void {
      settle({ ok: false, reason: 'body_aborted' })
    }
    function onTimeout(): void {
      settle({ ok: false, reason: 'body_timeout' })
    }

    // Never removed: an error after the answer would end the process without a listener.
    stream.on('error', onAborted)
    // A destroyed stream emits nothing more.
    if (stream.destroyed) return onAborted()
    if (deadline.passed) return onTimeout()
    deadline.onPassed(onTimeout)
    for (const [event, listener] of listeners) stream.on(event, listener)
    if (held) drain(stream)
    else stream.resume()
  })
}

const MAX_REST_BYTES = 1_048_576
const MAX_REST_MS = 5000

/**
 * Reads the rest of a body after the answer, within limits. A connection that is closed at once is reset, and the sender
 * often does not see the answer.
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
  if (!isHeld(stream)) {
    stream.resume()
    return
  }
  stream.on('readable', () => drain(stream))
  drain(stream)
}
