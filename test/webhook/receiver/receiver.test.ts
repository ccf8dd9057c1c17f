import {
  createWebhookReceiver,
  DiscardEvent,
  memoryStore,
  WebhookError,
  type WebhookHandled,
  type WebhookReceiver,
  type WebhookReceiverOptions,
} from 'campaign-client/webhook'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { activity, deliveryOf, HEADER, SECRET, sign, signedHeaders, WELL_FORMED } from '../signed-message.ts'
import { deferred, observedReceiver, recordingStore } from './observed-receiver.ts'

const ADDRESS = 'http://receiver.test/webhooks/campaign'

/** Reads the body of a request, and returns the request. */
function consumed(request: Request): Request {
  void request.text()
  return request
}

function fail(error: Error): never {
  throw error
}

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe('a receiver', () => {
  test('responds with 200 to a handled message, and passes the event, the bytes and the key to the handler', async () => {
    const contexts: unknown[] = []
    const { receiver, handled, rejections, errors } = observedReceiver({
      handle: (_event, context) => contexts.push({ ...context, signal: context.signal.aborted }),
    })
    const message = activity({ id: 'm-1' })
    const response = await receiver.fetch(deliveryOf(message))
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ ok: true, result: 'handled' })
    expect(handled).toMatchObject([{ kind: 'action_completed', id: 'm-1' }])
    expect(contexts).toEqual([
      { signal: false, rawBody: expect.any(Uint8Array), key: '["campaign","m-1"]', secretIndex: 0, isReplay: false },
    ])
    expect(new TextDecoder().decode((contexts[0] as { rawBody: Uint8Array }).rawBody)).toBe(JSON.stringify(message))
    expect(rejections).toEqual([])
    expect(errors).toEqual([])
  })

  test('handles an event of unknown kind', async () => {
    const { receiver, handled } = observedReceiver()
    const response = await receiver.fetch(deliveryOf({ id: 'm-2', scope: 'user_login', anything: [1] }))
    expect(response.status).toBe(200)
    expect(handled).toMatchObject([{ kind: 'unknown', id: 'm-2' }])
  })

  test.each([
    ['synchronously', () => fail(new DiscardEvent('another campaign'))],
    ['asynchronously', () => Promise.reject(new DiscardEvent('another campaign'))],
  ])('responds with 200 to a message discarded %s, and never handles it again', async (_, handle) => {
    const { receiver, handled, errors } = observedReceiver({ handle })
    const message = activity()
    const first = await receiver.fetch(deliveryOf(message))
    expect([first.status, await first.json()]).toEqual([200, { ok: true, result: 'discarded' }])
    const second = await receiver.fetch(deliveryOf(message))
    expect([second.status, await second.json()]).toEqual([200, { ok: true, result: 'duplicate' }])
    expect(handled).toHaveLength(1)
    expect(errors).toEqual([])
  })

  test('passes the index of the matching secret to the handler', async () => {
    const indexes: (number | null)[] = []
    const { receiver } = observedReceiver({
      secret: ['new', 'old'],
      handle: (_event, { secretIndex }) => indexes.push(secretIndex),
    })
    expect((await receiver.fetch(deliveryOf(activity(), { secret: 'old' }))).status).toBe(200)
    expect((await receiver.fetch(deliveryOf(activity(), { secret: 'new' }))).status).toBe(200)
    expect(indexes).toEqual([1, 0])
  })

  test.each([
    ['a function', () => SECRET],
    ['an asynchronous function', async () => ['other', SECRET]],
  ])('gets the secret of every message from %s', async (_, secret) => {
    const source = vi.fn(secret)
    const { receiver } = observedReceiver({ secret: source })
    expect((await receiver.fetch(deliveryOf(activity()))).status).toBe(200)
    expect((await receiver.fetch(deliveryOf(activity()))).status).toBe(200)
    expect(source).toHaveBeenCalledTimes(2)
  })

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['object', { method: 'POST', headers: { [HEADER]: sign('{}') } }],
  ])('rejects a call of fetch without a Request (%s), and names the right method', async (given, request) => {
    const { receiver } = observedReceiver()
    const call = receiver.fetch(request as never)
    await expect(call).rejects.toThrow(TypeError)
    await expect(call).rejects.toThrow(`receiver.fetch takes a Request of the fetch API, and got ${given}.`)
    await expect(call).rejects.toThrow('node:http, Express and Nest: receiver.node(req, res)')
  })

  test.each([
    ['nothing', [], 'undefined and undefined'],
    ['a Request', [new Request(ADDRESS)], 'object and undefined'],
    ['a request that is not a stream', [{ headers: {} }, { setHeader: () => {} }], 'object and object'],
    ['a stream without headers', [{ on: () => {} }, { setHeader: () => {} }], 'object and object'],
    ['a request without its response', [{ on: () => {}, method: 'POST', headers: {} }, null], 'object and null'],
  ])('rejects a call of node with %s, and names the expected arguments', async (_, given, named) => {
    const { receiver } = observedReceiver()
    const call = receiver.node(...(given as unknown as Parameters<typeof receiver.node>))
    await expect(call).rejects.toThrow(TypeError)
    await expect(call).rejects.toThrow(`the request and the response of node:http, and got ${named}.`)
  })

  test('has functions that work without this', async () => {
    const { fetch, close } = observedReceiver().receiver
    expect((await fetch(deliveryOf(activity()))).status).toBe(200)
    await close()
  })
})

describe('refused because of the signature', () => {
  const body = JSON.stringify(activity())
  const cases: [reason: string, headers: Record<string, string>][] = [
    ['missing_signature', {}],
    ['malformed_signature', { [HEADER]: sign(body).toUpperCase() }],
    ['malformed_signature', { [HEADER]: `${sign(body)}, ${sign(body)}` }],
    ['signature_mismatch', { [HEADER]: sign(body, 'another secret') }],
    ['signature_mismatch', { [HEADER]: sign(`${body} `) }],
  ]

  test.each(cases)('%s is 401', async (reason, headers) => {
    const { store, calls } = recordingStore(memoryStore())
    const { receiver, handled, rejections } = observedReceiver({ store })
    const response = await receiver.fetch(new Request(ADDRESS, { method: 'POST', headers, body }))
    expect(response.status).toBe(401)
    expect(rejections).toEqual([{ reason, status: 401, endpoint: 'campaign' }])
    expect(handled).toEqual([])
    expect(calls).toEqual([])
  })

  test('the response is the same for all reasons', async () => {
    const { receiver } = observedReceiver()
    const answers = await Promise.all(
      cases.map(async ([, headers]) => {
        const response = await receiver.fetch(new Request(ADDRESS, { method: 'POST', headers, body }))
        return JSON.stringify([response.status, [...response.headers], await response.text()])
      }),
    )
    expect(new Set(answers).size).toBe(1)
  })

  test('a request without a body is 401', async () => {
    const { receiver, rejections } = observedReceiver()
    expect((await receiver.fetch(new Request(ADDRESS, { method: 'POST' }))).status).toBe(401)
    expect((await receiver.fetch(new Request(ADDRESS, { method: 'POST', headers: WELL_FORMED }))).status).toBe(401)
    expect(rejections).toMatchObject([{ reason: 'missing_signature' }, { reason: 'signature_mismatch' }])
  })

  test('any unsigned request is refused without an error', async () => {
    const { receiver, handled, errors } = observedReceiver()
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 200 }),
        fc.string({ unit: 'grapheme-ascii' }),
        async (bytes, header) => {
          const headers = { [HEADER]: header }
          const response = await receiver.fetch(
            new Request(ADDRESS, { method: 'POST', headers, body: new Uint8Array(bytes) }),
          )
          expect(response.status).toBe(401)
        },
      ),
    )
    expect(handled).toEqual([])
    expect(errors).toEqual([])
  })
})

describe('refused because of the method, the size or the content', () => {
  test('the reason of another method is method_not_allowed', async () => {
    const { receiver, rejections } = observedReceiver()
    expect((await receiver.fetch(new Request(ADDRESS))).status).toBe(405)
    expect(rejections).toMatchObject([{ reason: 'method_not_allowed', status: 405 }])
  })

  test.each([
    ['invalid_json', '{"id": "m-1"'],
    ['invalid_json', ''],
    ['missing_id', '{"scope":"user_activity"}'],
    ['missing_id', '[]'],
    ['invalid_utf8', new Uint8Array([0x22, 0xff, 0x22])],
  ])('signed, but %s: 400', async (reason, body) => {
    const { receiver, rejections, handled } = observedReceiver()
    const request = new Request(ADDRESS, { method: 'POST', headers: signedHeaders(body), body })
    expect((await receiver.fetch(request)).status).toBe(400)
    expect(rejections).toEqual([{ reason, status: 400, endpoint: 'campaign' }])
    expect(handled).toEqual([])
  })

  /** A body that counts the pulled bytes, and records whether the rest was cancelled. */
  function streamOf(chunks: Iterable<Uint8Array>): {
    body: ReadableStream<Uint8Array>
    pulled: () => number
    cancelled: () => boolean
  } {
    const iterator = chunks[Symbol.iterator]()
    let pulled = 0
    let cancelled = false
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const { done, value } = iterator.next()
          if (done) return controller.close()
          pulled += value.byteLength
          controller.enqueue(value)
        },
        cancel() {
          cancelled = true
        },
      },
      { highWaterMark: 0 },
    )
    return { body, pulled: () => pulled, cancelled: () => cancelled }
  }

  function* endless(): Generator<Uint8Array> {
    for (;;) yield new Uint8Array(1000)
  }

  function streamed(body: ReadableStream<Uint8Array>, headers: Record<string, string> = {}): Request {
    return new Request(ADDRESS, {
      method: 'POST',
      headers: { ...WELL_FORMED, ...headers },
      body,
      duplex: 'half',
    } as RequestInit)
  }

  test('an endless body is cancelled at the limit and gets 413, without a call of onError', async () => {
    const { receiver, rejections, errors } = observedReceiver({ maxBodyBytes: 5000 })
    const { body, pulled, cancelled } = streamOf(endless())
    const response = await receiver.fetch(streamed(body))
    expect(response.status).toBe(413)
    expect(rejections).toMatchObject([{ reason: 'too_large', status: 413 }])
    expect(errors).toEqual([])
    expect(pulled()).toBe(6000)
    expect(cancelled()).toBe(true)
  })

  test('a declared length over the limit is refused without reading the body', async () => {
    const { receiver } = observedReceiver({ maxBodyBytes: 5000 })
    const { body, pulled } = streamOf(endless())
    expect((await receiver.fetch(streamed(body, { 'content-length': '5001' }))).status).toBe(413)
    expect(pulled()).toBe(0)
  })

  test('a body over the limit is refused when its declared length is wrong', async () => {
    const { receiver } = observedReceiver({ maxBodyBytes: 5000 })
    const { body } = streamOf(endless())
    expect((await receiver.fetch(streamed(body, { 'content-length': '10' }))).status).toBe(413)
  })

  test('a signed message at the limit is accepted, and one byte more is refused', async () => {
    const message = JSON.stringify(activity())
    const size = new TextEncoder().encode(message).byteLength
    const exact = observedReceiver({ maxBodyBytes: size })
    expect((await exact.receiver.fetch(deliveryOf(message))).status).toBe(200)
    const headers = { ...signedHeaders(message), 'content-length': String(size) }
    const declared = new Request(ADDRESS, { method: 'POST', headers, body: message })
    expect(await (await exact.receiver.fetch(declared)).json()).toMatchObject({ result: 'duplicate' })
    const short = observedReceiver({ maxBodyBytes: size - 1 })
    expect((await short.receiver.fetch(deliveryOf(message))).status).toBe(413)
  })

  test('the default limit is 256 KiB', async () => {
    const { receiver } = observedReceiver()
    const fill = (size: number): string =>
      JSON.stringify({ id: 'x', fill: 'a'.repeat(size - '{"id":"x","fill":""}'.length) })
    expect((await receiver.fetch(deliveryOf(fill(262_145)))).status).toBe(413)
    expect((await receiver.fetch(deliveryOf(fill(262_144)))).status).toBe(200)
  })

  test('a message that arrives in single bytes is accepted', async () => {
    const { receiver, handled } = observedReceiver()
    const message = JSON.stringify(activity({ team: 'Ünïcode ✓' }))
    const bytes = new TextEncoder().encode(message)
    const { body } = streamOf(Array.from(bytes, (byte) => Uint8Array.of(byte)))
    expect((await receiver.fetch(streamed(body, signedHeaders(message)))).status).toBe(200)
    expect(handled).toHaveLength(1)
  })

  test('a stream of text is measured and verified as UTF-8 bytes', async () => {
    const message = JSON.stringify(activity({ team: 'Ünïcode ✓' }))
    const half = Math.floor(message.length / 2)
    const textOf = (...chunks: string[]) => streamOf(chunks as unknown as Uint8Array[]).body
    const { receiver, handled } = observedReceiver({ maxBodyBytes: 5000 })
    const chunks = [message.slice(0, half), message.slice(half)]
    expect((await receiver.fetch(streamed(textOf(...chunks), signedHeaders(message)))).status).toBe(200)
    expect(handled).toHaveLength(1)
    expect((await receiver.fetch(streamed(textOf('é'.repeat(1250), 'é'.repeat(1251))))).status).toBe(413)
  })

  test('a stream of objects is not a raw body: 500, and onError receives the reason', async () => {
    const { receiver, errors } = observedReceiver()
    const { body } = streamOf([{ id: 'x' }] as unknown as Uint8Array[])
    expect((await receiver.fetch(streamed(body))).status).toBe(500)
    expect(errors).toMatchObject([{ error: { code: 'body_not_raw' }, context: { stage: 'body' } }])
    expect(String(errors[0]?.error)).toContain('the chunks of the request stream are neither bytes nor text')
  })

  test('the request is rejected at once when the sender disconnects in the middle of the body', async () => {
    const { receiver, rejections } = observedReceiver()
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array(10))
      },
      pull(controller) {
        controller.error(new Error('hung up'))
      },
    })
    expect((await receiver.fetch(streamed(body))).status).toBe(400)
    expect(rejections).toMatchObject([{ reason: 'body_aborted' }])
  })

  test('a body that never ends is cancelled at the deadline', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { receiver, rejections } = observedReceiver({ deadlineMs: 400 })
    let cancelled = false
    const body = new ReadableStream<Uint8Array>({
      cancel() {
        cancelled = true
      },
    })
    const answer = receiver.fetch(streamed(body))
    await vi.advanceTimersByTimeAsync(400)
    const response = await answer
    expect([response.status, await response.json()]).toEqual([408, { ok: false, error: 'request_timeout' }])
    expect(rejections).toMatchObject([{ reason: 'body_timeout', status: 408 }])
    expect(cancelled).toBe(true)
  })
})

describe('a body that was already read', () => {
  test.each(['json', 'text', 'arrayBuffer'] as const)(
    'by %s(): 500, and only onError receives the cause',
    async (method) => {
      const { receiver, rejections, errors } = observedReceiver()
      const request = deliveryOf(activity())
      await request[method]()
      const response = await receiver.fetch(request)
      expect(response.status).toBe(500)
      expect(await response.text()).toBe('{"ok":false,"error":"internal_error"}')
      expect(rejections).toMatchObject([{ reason: 'body_not_raw', status: 500 }])
      expect(errors).toHaveLength(1)
      expect(errors[0]?.error).toBeInstanceOf(WebhookError)
      expect(errors[0]).toMatchObject({
        error: { code: 'body_not_raw' },
        context: { stage: 'body', endpoint: 'campaign' },
      })
      expect(String(errors[0]?.error)).toMatch(/bodyUsed.*clone\(\)/)
    },
  )

  test('by a reader that still locks it: 500', async () => {
    const { receiver, rejections } = observedReceiver()
    const request = deliveryOf(activity())
    request.body?.getReader()
    expect((await receiver.fetch(request)).status).toBe(500)
    expect(rejections).toMatchObject([{ reason: 'body_not_raw' }])
  })

  test('is accepted from a clone that was made before', async () => {
    const { receiver } = observedReceiver()
    const request = deliveryOf(activity())
    const copy = request.clone()
    await request.json()
    expect((await receiver.fetch(copy)).status).toBe(200)
  })
})

describe('diagnose() of a rejection', () => {
  test.each([
    ['finds a secret with the line break of its file', { secret: Buffer.from(`${SECRET}\n`) }, ['secret_whitespace']],
    ['cannot explain an old secret', { secret: 'replaced' }, ['unexplained']],
  ])('%s', async (_, options, codes) => {
    const { receiver, rejections } = observedReceiver(options)
    expect((await receiver.fetch(deliveryOf(activity()))).status).toBe(401)
    expect(rejections[0]?.diagnose().map(({ code }) => code)).toEqual(codes)
  })

  test('diagnoses only the header when the header was refused', async () => {
    const { receiver, rejections } = observedReceiver()
    const body = JSON.stringify(activity())
    const headers = { [HEADER]: `sha256=${sign(body)}` }
    await receiver.fetch(new Request(ADDRESS, { method: 'POST', headers, body }))
    await receiver.fetch(new Request(ADDRESS, { method: 'POST', body }))
    expect(rejections.map((rejection) => rejection.diagnose().map(({ code }) => code))).toEqual([
      ['prefixed_signature'],
      ['missing_signature'],
    ])
  })

  test('is empty for other reasons, and not enumerable', async () => {
    const { receiver, rejections } = observedReceiver()
    await receiver.fetch(new Request(ADDRESS))
    await receiver.fetch(deliveryOf(activity(), { secret: 'another' }))
    expect(rejections[0]?.diagnose()).toEqual([])
    expect(structuredClone(rejections)).toEqual(rejections)
    expect(Object.keys(rejections[1] ?? {})).toEqual(['reason', 'status', 'endpoint'])
  })
})

describe('onHandled', () => {
  test('receives the id and the kind of the event, its waiting time and its running time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const reported: WebhookHandled[] = []
    const pause = (delayMs: number) => new Promise<void>((resolve) => setTimeout(resolve, delayMs))
    let runs = 0
    const { receiver } = observedReceiver({
      onHandled: (handled) => reported.push(handled),
      secret: async () => {
        await pause(30)
        return SECRET
      },
      handle: async (event) => {
        await pause(200)
        if (event.id === 'm-2') throw new DiscardEvent()
        if (++runs === 1) throw new Error('first')
      },
    })
    const deliver = async (id: string): Promise<void> => {
      const answer = receiver.fetch(deliveryOf(activity({ id })))
      await vi.advanceTimersByTimeAsync(230)
      await answer
    }
    for (const id of ['m-1', 'm-1', 'm-1', 'm-2']) await deliver(id)
    const common = { id: 'm-1', kind: 'action_completed', endpoint: 'campaign', waitedMs: 30, ranMs: 200 }
    expect(reported).toEqual([
      { ...common, outcome: 'failed' },
      { ...common, outcome: 'handled' },
      { ...common, outcome: 'duplicate', ranMs: 0 },
      { ...common, id: 'm-2', outcome: 'discarded' },
    ])
  })

  test('is not called for refused requests, and its errors change no response', async () => {
    const onHandled = vi.fn(() => {
      throw new Error('hook')
    })
    const { receiver, errors } = observedReceiver({ onHandled })
    expect((await receiver.fetch(deliveryOf(activity(), { secret: 'another' }))).status).toBe(401)
    expect(onHandled).not.toHaveBeenCalled()
    expect((await receiver.fetch(deliveryOf(activity()))).status).toBe(200)
    expect(errors).toMatchObject([{ error: { message: 'hook' }, context: { stage: 'hook' } }])
  })
})

describe('an unexpected error inside the receiver', () => {
  test('is reported and gets 500; fetch does not reject', async () => {
    const body = JSON.stringify(activity())
    const fault = new Error('not implemented')
    // Like a Request of an incomplete polyfill.
    const request = {
      method: 'POST',
      headers: new Headers(signedHeaders(body)),
      get bodyUsed() {
        throw fault
      },
    }
    const { receiver, errors, rejections } = observedReceiver()
    const answer = await receiver.fetch(request as unknown as Request)
    expect([answer.status, await answer.json()]).toEqual([500, { ok: false, error: 'internal_error' }])
    expect(errors).toStrictEqual([{ error: fault, context: { stage: 'receiver', endpoint: 'campaign' } }])
    expect(rejections).toStrictEqual([{ reason: 'internal_error', status: 500, endpoint: 'campaign' }])
  })
})

describe('when the handler throws', () => {
  test('the claim is released before the response 500 is sent', async () => {
    const released = deferred()
    const inner = memoryStore()
    const { store, calls } = recordingStore(inner, {
      release: async (key, token) => {
        await released.promise
        await inner.release(key, token)
      },
    })
    const failure = new Error('database password is hunter2')
    let fail = true
    const { receiver, rejections, errors } = observedReceiver({
      store,
      handle: () => {
        if (fail) throw failure
      },
    })
    const message = activity({ id: 'm-9' })
    let answered = false
    const answer = receiver.fetch(deliveryOf(message)).then((response) => {
      answered = true
      return response
    })
    await expect.poll(() => calls).toEqual(['claim', 'release'])
    expect(answered).toBe(false)
    released.resolve()
    const response = await answer
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('hunter2')
    expect(errors).toEqual([{ error: failure, context: { stage: 'handle', endpoint: 'campaign', id: 'm-9' } }])
    expect(rejections).toEqual([{ reason: 'handler_failed', status: 500, endpoint: 'campaign', id: 'm-9' }])

    fail = false
    expect((await receiver.fetch(deliveryOf(message))).status).toBe(200)
  })
})

describe('hooks', () => {
  test.each([
    ['throws', () => fail(new Error('hook'))],
    ['rejects', () => Promise.reject(new Error('hook'))],
  ])('an error of a hook that %s changes no response, and that of onReject is reported', async (_, hook) => {
    const { receiver, errors } = observedReceiver({ onReject: hook })
    expect((await receiver.fetch(new Request(ADDRESS))).status).toBe(405)
    await expect.poll(() => errors).toMatchObject([{ error: { message: 'hook' }, context: { stage: 'hook' } }])
    const failing = observedReceiver({ onError: hook, handle: () => fail(new Error('handler')) })
    expect((await failing.receiver.fetch(deliveryOf(activity()))).status).toBe(500)
  })

  describe('without hooks', () => {
    const silent = (options: Partial<WebhookReceiverOptions> = {}): WebhookReceiver =>
      createWebhookReceiver({ endpoint: 'campaign', secret: SECRET, handle: () => {}, ...options })

    test('a failure is written to the console, with its error', async () => {
      const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
      const failure = new Error('handler')
      const receiver = silent({ handle: () => Promise.reject(failure) })
      expect((await receiver.fetch(deliveryOf(activity({ id: 'm\n1' })))).status).toBe(500)
      expect(warn.mock.calls).toEqual([
        [
          expect.stringMatching(/^campaign-client webhook receiver "campaign", message "m\\n1": handle failed\./),
          failure,
        ],
      ])
    })

    test('a wrong signature is written to the console, with a hint to diagnose()', async () => {
      const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
      const receiver = silent()
      expect((await receiver.fetch(deliveryOf(activity(), { secret: 'another' }))).status).toBe(401)
      expect(warn.mock.calls).toEqual([
        [
          expect.stringMatching(
            /^campaign-client webhook receiver "campaign": responded to a request with 401 \(signature_mismatch\)\..*diagnose\(\)/,
          ),
        ],
      ])
      expect(JSON.stringify(warn.mock.calls)).not.toContain(SECRET)
    })

    const fault = new Error('down')
    test.each<[stage: string, options: Partial<WebhookReceiverOptions>, request: () => Request]>([
      ['body', {}, () => consumed(deliveryOf(activity()))],
      ['secret', { secret: () => Promise.reject(fault) }, () => deliveryOf(activity())],
      ['claim', { store: { ...memoryStore(), claim: () => Promise.reject(fault) } }, () => deliveryOf(activity())],
      ['receiver', {}, () => Object.defineProperty(deliveryOf(activity()), 'bodyUsed', { get: () => fail(fault) })],
    ])('a failure at the stage %s causes one warning', async (stage, options, request) => {
      const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
      expect((await silent(options).fetch(request())).status).toBeGreaterThanOrEqual(500)
      expect(warn.mock.calls).toEqual([[expect.stringContaining(`${stage} failed.`), expect.any(Error)]])
    })

    test('a warning of each kind is written once per minute, and the next one counts the skipped warnings', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
      const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
      const receiver = silent({ handle: () => Promise.reject(new Error('handler')) })
      const forged = () => receiver.fetch(deliveryOf(activity(), { secret: 'another' }))
      for (let i = 0; i < 40; i++) await forged()
      expect(warn).toHaveBeenCalledTimes(1)
      await receiver.fetch(new Request(ADDRESS))
      expect(warn).toHaveBeenCalledTimes(2)
      await vi.advanceTimersByTimeAsync(59_999)
      await forged()
      expect(warn).toHaveBeenCalledTimes(2)
      await vi.advanceTimersByTimeAsync(1)
      await forged()
      expect(warn.mock.calls.at(-1)).toEqual([
        expect.stringContaining('signature_mismatch'),
        '(and 40 more since the last warning of this kind)',
      ])
      const another = silent()
      await another.fetch(deliveryOf(activity(), { secret: 'another' }))
      expect(warn).toHaveBeenCalledTimes(4)
    })
  })

  test('no response, hook or inspection of the receiver contains the secret', async () => {
    const { inspect } = await import('node:util')
    const { receiver, rejections, errors } = observedReceiver({
      secret: [SECRET, 'old-secret'],
      handle: () => {
        throw new Error('handler')
      },
    })
    const answers = await Promise.all([
      receiver.fetch(deliveryOf(activity())),
      receiver.fetch(deliveryOf(activity(), { secret: 'forged' })),
      receiver.fetch(new Request(ADDRESS)),
      receiver.fetch(deliveryOf('{}')),
    ])
    const shown = [
      ...(await Promise.all(answers.map(async (answer) => inspect([...answer.headers]) + (await answer.text())))),
      inspect({ receiver, rejections, errors }, { depth: 10, showHidden: true }),
      JSON.stringify([receiver, rejections, errors]),
    ].join('\n')
    expect(shown).not.toContain(SECRET)
    expect(shown).not.toContain('old-secret')
  })
})

describe('the secret function', () => {
  test.each([
    ['throws', () => fail(new Error('vault is sealed')), /vault is sealed/],
    ['rejects', () => Promise.reject(new Error('vault is sealed')), /vault is sealed/],
    ['returns undefined', () => undefined as never, /./],
    ['returns an empty secret', () => '', /./],
  ])('%s: 503, because another attempt may succeed', async (_, secret, message) => {
    const { receiver, rejections, errors, handled } = observedReceiver({ secret })
    const response = await receiver.fetch(deliveryOf(activity()))
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('5')
    expect(rejections).toMatchObject([{ reason: 'secret_unavailable', status: 503 }])
    expect(errors).toMatchObject([{ context: { stage: 'secret' } }])
    expect(String(errors[0]?.error)).toMatch(message)
    expect(handled).toEqual([])
  })

  test('never responds: 503 at the deadline', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { receiver, errors } = observedReceiver({ secret: () => new Promise<string>(() => {}), deadlineMs: 700 })
    const answer = receiver.fetch(deliveryOf(activity()))
    await vi.advanceTimersByTimeAsync(700)
    expect((await answer).status).toBe(503)
    expect(String(errors[0]?.error)).toContain('700 ms')
  })
})
