import { BodyCollector, type BodyFailure, type BodyLimits, type BodyRead, rawBytes } from '../body.ts'
import type { Deadline } from '../deadline.ts'
import { startTimer } from '../timer.ts'

/** What is used of a Node readable stream, by structure: a type of node: would bind edge projects to Node's types. */
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

/** Whether somebody read from the stream before: what is left of it, if anything, is not the body. */
export function wasRead(stream: NodeReadable): boolean {
  return stream.readableDidRead === true || stream.readableEnded === true
}

/** Whether the stream itself knows that nothing was read from it. Those that only look like a stream don't know. */
export function isUnread(stream: NodeReadable): boolean {
  return stream.readableDidRead === false && stream.readableEnded !== true && stream.destroyed !== true
}

/** Whether somebody is reading the stream at the moment. */
export function isBeingRead(stream: NodeReadable): boolean {
  return stream.readableFlowing === true && stream.readableEnded === false && stream.destroyed !== true
}

/** Waits until whoever is reading the stream has come to its end. */
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
 * Whether somebody's listener of `readable` keeps the stream from flowing: it then gives data only to who reads, and a
 * listener of `data` alone would wait in vain.
 */
const isHeld = (stream: NodeReadable): boolean => (stream.listenerCount?.('readable') ?? 0) > 0

/** Reads what has arrived, which goes to all listeners of `data`. */
function drain(stream: NodeReadable): void {
  while ((stream.read?.() ?? null) !== null);
}

/**
 * Reads a stream to its end. Listens instead of iterating: leaving a loop destroys the stream, and the connection
 * with it, before an answer could be sent.
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

    // It stays: an error after the answer would end the process if nobody listened.
    stream.on('error', onAborted)
    // A stream that is gone already says nothing any more.
    if (stream.destroyed) return onAborted()
    if (deadline.passed) return onTimeout()
    deadline.onPassed(onTimeout)
    for (const [event, listener] of listeners) stream.on(event, listener)
    if (held) drain(stream)
    else stream.resume()
  })
}

const LINGER_BYTES = 1_048_576
const LINGER_MS = 5000

/**
 * Takes what a sender still sends after it was answered, within limits. A connection closed at once would be reset,
 * and the sender would often not see the answer that tells what was wrong.
 */
export function discardRest(stream: NodeReadable): void {
  if (stream.readableEnded || stream.destroyed) return
  let left = LINGER_BYTES
  const cancel = startTimer(LINGER_MS, () => stream.destroy())
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
