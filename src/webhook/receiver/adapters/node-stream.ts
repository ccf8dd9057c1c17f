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

/** Whether the stream was read before. The rest is then not the whole body. */
export function wasRead(stream: NodeReadable): boolean {
  return stream.readableDidRead === true || stream.readableEnded === true
}

/** Whether nothing was read from the stream. False for an object without these properties. */
export function isUnread(stream: NodeReadable): boolean {
  return stream.readableDidRead === false && stream.readableEnded !== true && stream.destroyed !== true
}

/** Whether other code is reading the stream. */
export function isBeingRead(stream: NodeReadable): boolean {
  return stream.readableFlowing === true && stream.readableEnded === false && stream.destroyed !== true
}

/** Waits until the other code has read the stream to its end. */
export function waitForEnd(stream: NodeReadable, deadline: Deadline): Promise<BodyFailure | undefined> {
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

/** Whether the stream has a `readable` listener. It then emits `data` only when `read()` is called. */
const hasReadableListener = (stream: NodeReadable): boolean => (stream.listenerCount?.('readable') ?? 0) > 0

/** Makes the stream emit the chunks that have arrived. */
function drain(stream: NodeReadable): void {
  while ((stream.read?.() ?? null) !== null);
}

/**
 * Reads a stream to its end. Uses listeners, because leaving a `for await` loop destroys the stream, and with it the
 * connection on which the answer is sent.
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
    const isPaused = hasReadableListener(stream)
    if (isPaused) listeners.push(['readable', () => drain(stream)])

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

    // Never removed, because an error without a listener would end the process.
    stream.on('error', onAborted)
    // A destroyed stream emits no events.
    if (stream.destroyed) return onAborted()
    if (deadline.passed) return onTimeout()
    deadline.onPassed(onTimeout)
    for (const [event, listener] of listeners) stream.on(event, listener)
    if (isPaused) drain(stream)
    else stream.resume()
  })
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
  if (!hasReadableListener(stream)) {
    stream.resume()
    return
  }
  stream.on('readable', () => drain(stream))
  drain(stream)
}
