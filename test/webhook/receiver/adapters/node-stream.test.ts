import { PassThrough } from 'node:stream'
import type { WebhookReceiver } from 'campaign-client/webhook'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { activity, signedHeaders } from '../../signed-message.ts'
import { observedReceiver } from '../observed-receiver.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const body = JSON.stringify(activity())

/** Passes the stream to the receiver as a request, and returns the status of the response. */
async function statusOf(
  receiver: WebhookReceiver,
  stream: Parameters<WebhookReceiver['node']>[0] | PassThrough,
  headers = signedHeaders(body),
): Promise<number> {
  const response = { statusCode: 0, headersSent: false, setHeader: () => {}, end: () => {} }
  await receiver.node(Object.assign(stream, { method: 'POST', headers }), response)
  return response.statusCode
}

describe('a request that is not a stream of Node', () => {
  /** Returns an object with only the required members of `NodeRequest`. */
  function minimalRequest() {
    const listeners = new Map<string, (...values: unknown[]) => void>()
    return {
      headers: {},
      on: (event: string, listener: (...values: unknown[]) => void) => listeners.set(event, listener),
      removeListener: (event: string) => listeners.delete(event),
      resume() {
        listeners.get('data')?.(Buffer.from(body))
        listeners.get('end')?.()
      },
      destroy: () => {},
    }
  }

  test('is read through its required members', async () => {
    expect(await statusOf(observedReceiver().receiver, minimalRequest())).toBe(200)
  })

  test('is refused with 405 when it has no method', async () => {
    const response = { statusCode: 0, headersSent: false, setHeader: () => {}, end: () => {} }
    await observedReceiver().receiver.node(minimalRequest(), response)
    expect(response.statusCode).toBe(405)
  })
})

describe('a stream', () => {
  test.each<[name: string, stop: (stream: PassThrough) => unknown]>([
    ['fails and is not closed', (stream) => stream.emit('error', new Error('checksum'))],
    ['is closed without an error', (stream) => stream.destroy()],
  ])('that %s before its end: 400', async (_, stop) => {
    const { receiver, rejections } = observedReceiver()
    const stream = new PassThrough({ autoDestroy: false })
    const status = statusOf(receiver, stream)
    stream.write(body.slice(0, 10))
    stop(stream)
    expect(await status).toBe(400)
    expect(rejections).toMatchObject([{ reason: 'body_aborted' }])
  })

  test('may fail while the handler runs: the handler continues', async () => {
    const stream = new PassThrough().end(body)
    const { receiver, handled } = observedReceiver({ handle: () => stream.emit('error', new Error('late')) })
    expect(await statusOf(receiver, stream)).toBe(200)
    expect(handled).toHaveLength(1)
  })

  test('leaves no timer when it was read to its end', async () => {
    expect(await statusOf(observedReceiver().receiver, new PassThrough().end(body))).toBe(200)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('of objects does not end the process when more objects follow', async () => {
    const { receiver, errors } = observedReceiver()
    const stream = new PassThrough({ objectMode: true })
    stream.write({ id: 1 })
    expect(await statusOf(receiver, stream)).toBe(500)
    stream.write({ id: 2 })
    expect(errors).toMatchObject([{ error: { code: 'body_not_raw' } }])
    await vi.advanceTimersByTimeAsync(0)
    expect(stream.readableLength + stream.writableLength).toBe(0)
  })
})

describe('the rest of a body that was refused', () => {
  /** Returns a stream whose message was refused before its body arrived. */
  async function refusedStream(): Promise<PassThrough> {
    const stream = new PassThrough({ autoDestroy: false, highWaterMark: 2 ** 21 })
    expect(await statusOf(observedReceiver().receiver, stream, {})).toBe(401)
    return stream
  }
  const settle = () => vi.advanceTimersByTimeAsync(0)

  test('is dropped up to 1 MiB; after one more byte the stream is destroyed', async () => {
    const stream = await refusedStream()
    stream.write(Buffer.alloc(1_048_576))
    await settle()
    expect([stream.readableLength, stream.destroyed]).toEqual([0, false])
    stream.write('x')
    await settle()
    expect(stream.destroyed).toBe(true)
  })

  test('is dropped for 5 s; then the stream is destroyed', async () => {
    const stream = await refusedStream()
    await vi.advanceTimersByTimeAsync(4999)
    expect(stream.destroyed).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(stream.destroyed).toBe(true)
  })

  test.each<[event: string, stop: (stream: PassThrough) => unknown]>([
    ['end', (stream) => stream.end()],
    ['error', (stream) => stream.emit('error', new Error('checksum'))],
    ['close', (stream) => stream.destroy()],
  ])('leaves no timer after the event %s', async (_, stop) => {
    const stream = await refusedStream()
    expect(vi.getTimerCount()).toBe(1)
    stop(stream)
    await settle()
    expect(vi.getTimerCount()).toBe(0)
  })
})
