import { DatabaseSync, StatementSync } from 'node:sqlite'
import { ConfigurationError } from 'campaign-client'
import {
  type DeliveryStore,
  DiscardEvent,
  memoryStore,
  type WebhookHandlerContext,
  type WebhookReceiver,
  type WebhookReceiverOptions,
} from 'campaign-client/webhook'
import { sqliteSchema, sqliteStore } from 'campaign-client/webhook/sqlite'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { activity, deliveryOf, SECRET } from '../signed-message.ts'
import { deferred, failedMessages, observedReceiver, recordingStore } from './observed-receiver.ts'

function openDatabase(schema = sqliteSchema()): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  database.exec(schema)
  return database
}

/** Creates a receiver that keeps messages in SQLite. */
function keepingReceiver(options: Partial<WebhookReceiverOptions> = {}, database = openDatabase()) {
  return { database, ...observedReceiver({ store: sqliteStore(database), keepFailed: true, ...options }) }
}

/** A store in SQLite that records the calls that receivers of messages make. */
function keepingStore() {
  const inner = sqliteStore(openDatabase())
  const { store, calls } = recordingStore(inner)
  const { failed, take, forget } = inner
  return { store: { ...store, failed, take, forget }, calls }
}

const bug = (): never => {
  throw new TypeError('no such column: xp')
}

const statusOf = async (receiver: WebhookReceiver, message: unknown): Promise<number> =>
  (await receiver.fetch(deliveryOf(message))).status

/** A receiver with the failed message `m-1`, and its replay, whose handler runs until its signal fires. */
async function startReplay(signal?: AbortSignal) {
  const running = deferred()
  let isReplay = false
  const observed = keepingReceiver({
    handle(_event, context) {
      if (!isReplay) bug()
      running.resolve()
      return new Promise((_, reject) => context.signal.addEventListener('abort', () => reject(context.signal.reason)))
    },
  })
  await statusOf(observed.receiver, activity({ id: 'm-1' }))
  isReplay = true
  const replay = observed.receiver.replay(keyOf('m-1'), { signal })
  await running.promise
  return { ...observed, replay }
}

const keyOf = (id: string): string => JSON.stringify(['campaign', id])

describe('a message whose handler fails', () => {
  test('is kept, listed, replayed with the same event, and then done', async () => {
    const contexts: WebhookHandlerContext[] = []
    let isMended = false
    const { receiver, handled } = keepingReceiver({
      handle(_event, context) {
        contexts.push(context)
        if (!isMended) bug()
      },
    })
    const message = activity({ id: 'm-1' })
    for (let attempt = 0; attempt < 5; attempt++) expect(await statusOf(receiver, message)).toBe(500)
    const [failed, ...others] = await failedMessages(receiver)
    expect(others).toEqual([])
    expect(failed).toEqual({
      key: keyOf('m-1'),
      id: 'm-1',
      kind: 'action_completed',
      rawBody: new TextEncoder().encode(JSON.stringify(message)),
      attempts: 5,
      reason: 'handler_failed',
      error: 'TypeError: no such column: xp',
      firstFailedAt: expect.any(String),
      lastFailedAt: expect.any(String),
    })

    expect(await receiver.replay(keyOf('m-1'))).toBe('failed')
    isMended = true
    expect(await receiver.replay(keyOf('m-1'))).toBe('handled')
    expect(handled).toHaveLength(7)
    expect(handled[6]).toEqual(handled[0])
    const seen = contexts.map(({ isReplay, secretIndex, key }) => ({ isReplay, secretIndex, key }))
    expect(seen[0]).toEqual({ isReplay: false, secretIndex: 0, key: keyOf('m-1') })
    expect(seen[6]).toEqual({ isReplay: true, secretIndex: null, key: keyOf('m-1') })
    expect(contexts[6]?.rawBody).toEqual(contexts[0]?.rawBody)

    expect(await receiver.replay(keyOf('m-1'))).toBe('duplicate')
    expect(await statusOf(receiver, message)).toBe(200)
    expect(await failedMessages(receiver)).toEqual([])
    expect(handled).toHaveLength(7)
  })

  test('is listed by default when the service has given it up: 400 s after the last failure', async () => {
    const { receiver, database } = keepingReceiver({ handle: bug })
    for (const id of ['a', 'b']) await statusOf(receiver, activity({ id }))
    database.exec('UPDATE campaign_deliveries SET expires_at = expires_at - 300000')
    expect(await failedMessages(receiver, {})).toEqual([])
    database.exec(`UPDATE campaign_deliveries SET expires_at = expires_at - 100000 WHERE key = '${keyOf('b')}'`)
    expect(await failedMessages(receiver, {})).toMatchObject([{ id: 'b' }])
    expect((await failedMessages(receiver, { olderThanMs: 300_000 })).map(({ id }) => id)).toEqual(['b', 'a'])
    expect((await failedMessages(receiver, { olderThanMs: 500_000 })).map(({ id }) => id)).toEqual([])
  })

  test('is discarded by a replay whose handler throws DiscardEvent', async () => {
    let error: Error = new TypeError('bug')
    const { receiver } = keepingReceiver({
      handle() {
        throw error
      },
    })
    await statusOf(receiver, activity({ id: 'm-1' }))
    error = new DiscardEvent('unknown campaign')
    expect(await receiver.replay(keyOf('m-1'))).toBe('discarded')
    expect(await receiver.replay(keyOf('m-1'))).toBe('duplicate')
  })

  test('is not known to a receiver of another endpoint', async () => {
    const { receiver, database } = keepingReceiver({ handle: bug })
    const other = keepingReceiver({ endpoint: 'other' }, database)
    const ids = ['m-1', 'x'.repeat(600)]
    for (const id of ids) await statusOf(receiver, activity({ id }))
    expect(await failedMessages(other.receiver)).toEqual([])
    const failed = await failedMessages(receiver)
    for (const { key } of failed) {
      expect(await other.receiver.replay(key)).toBe('unknown')
      expect(await other.receiver.forget(key)).toBe(false)
    }
    for (const key of [keyOf('m-2'), '', 'a\0b']) expect(await receiver.replay(key)).toBe('unknown')
    expect(other.handled).toEqual([])
    expect(await failedMessages(receiver)).toEqual(failed)
    expect(failed.map(({ id }) => id).sort()).toEqual(ids)
  })

  test.each([
    ['U+0000', 'a\0b'],
    ['a lone surrogate', 'a\ud800'],
    ['letters of many scripts', 'заказ 漢 🦊'],
    ['more characters than a key may have', 'x'.repeat(600)],
  ])('is kept and replayed if its id has %s', async (_, id) => {
    let isMended = false
    const { receiver, handled } = keepingReceiver({ handle: () => isMended || bug() })
    expect(await statusOf(receiver, activity({ id }))).toBe(500)
    const [failed] = await failedMessages(receiver)
    expect(failed?.id).toBe(id)
    isMended = true
    expect(await receiver.replay(failed?.key ?? '')).toBe('handled')
    expect(handled[1]?.id).toBe(id)
  })

  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  test.each<[string, unknown, string]>([
    ['an error with U+0000', new RangeError('a\0b'), 'RangeError: ab'],
    ['an error with a lone surrogate', new Error('a\ud800'), 'Error: a\ufffd'],
    ['a long error', new Error('x'.repeat(1000)), `Error: ${'x'.repeat(493)}`],
    ['text', 'not today', 'not today'],
    ['undefined', undefined, 'undefined'],
    ['an object without text', Object.create(null), 'unknown error'],
    ['a revoked proxy', revoked.proxy, 'unknown error'],
  ])('is kept with a description of %s', async (_, error, description) => {
    const { receiver } = keepingReceiver({
      handle() {
        throw error
      },
    })
    expect(await statusOf(receiver, activity())).toBe(500)
    expect(await failedMessages(receiver)).toMatchObject([{ reason: 'handler_failed', error: description }])
  })

  test('is kept among a thousand that fail at once, and each is replayed once', async () => {
    let isMended = false
    const { receiver, handled } = keepingReceiver({ handle: () => isMended || bug() })
    const ids = Array.from({ length: 1000 }, (_, index) => `m-${index}`)
    const statuses = await Promise.all(ids.map((id) => statusOf(receiver, activity({ id }))))
    expect(new Set(statuses)).toEqual(new Set([500]))
    isMended = true
    handled.length = 0
    for await (const { key } of receiver.failed({ olderThanMs: 0 })) expect(await receiver.replay(key)).toBe('handled')
    expect(handled.map(({ id }) => id).sort()).toEqual(ids.sort())
    expect(await failedMessages(receiver)).toEqual([])
  })

  test('that fails again in a replay is not listed twice', async () => {
    const { receiver, handled } = keepingReceiver({ handle: bug })
    for (let index = 0; index < 30; index++) await statusOf(receiver, activity({ id: `m-${index}` }))
    await new Promise((resolve) => setTimeout(resolve, 5))
    const listed: string[] = []
    for await (const { key, id } of receiver.failed({ olderThanMs: 0 })) {
      listed.push(id)
      expect(await receiver.replay(key)).toBe('failed')
    }
    expect(new Set(listed).size).toBe(30)
    expect([listed.length, handled.length]).toEqual([30, 60])
  })

  test('is kept for retainMs', async () => {
    const { receiver, database } = keepingReceiver({ keepFailed: { retainMs: 86_400_000 }, handle: bug })
    const month = keepingReceiver({ handle: bug }, database)
    for (const id of ['a', 'b']) await statusOf(receiver, activity({ id }))
    await statusOf(month.receiver, activity({ id: 'c' }))
    database.exec(`UPDATE campaign_deliveries SET expires_at = expires_at - 86400000 WHERE key <> '${keyOf('a')}'`)
    expect((await failedMessages(receiver)).map(({ id }) => id)).toEqual(['c', 'a'])
    database.exec('UPDATE campaign_deliveries SET expires_at = expires_at - 2592000000')
    expect(await failedMessages(receiver)).toEqual([])
    expect(await sqliteStore(database).prune()).toBe(3)
  })
})

describe('a replay', () => {
  test('beside another replay or an attempt of the service: the second is busy, and one handler runs', async () => {
    const running = deferred()
    let isMended = false
    const { receiver, handled } = keepingReceiver({ handle: () => (isMended ? running.promise : bug()) })
    const message = activity({ id: 'm-1' })
    await statusOf(receiver, message)
    isMended = true
    const replays = [receiver.replay(keyOf('m-1')), receiver.replay(keyOf('m-1'))]
    expect(await Promise.race(replays)).toBe('busy')
    expect(await statusOf(receiver, message)).toBe(503)
    expect(await failedMessages(receiver)).toEqual([])
    expect(handled).toHaveLength(2)
    running.resolve()
    expect((await Promise.all(replays)).sort()).toEqual(['busy', 'handled'])
    expect(await statusOf(receiver, message)).toBe(200)
  })

  test('calls onHandled and onError as a delivery does', async () => {
    const outcomes: unknown[] = []
    const { receiver, errors } = keepingReceiver({ handle: bug, onHandled: (each) => outcomes.push(each) })
    await statusOf(receiver, activity({ id: 'm-1', email: undefined }))
    await receiver.replay(keyOf('m-1'))
    const outcome = { id: 'm-1', kind: 'action_completed', endpoint: 'campaign', outcome: 'failed' }
    expect(outcomes).toMatchObject([outcome, outcome])
    expect(errors.map(({ context }) => context.stage)).toEqual(['message', 'handle', 'message', 'handle'])
  })

  test('extends its lease, and stops after maxRunMs', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    let isReplay = false
    const { store, calls } = keepingStore()
    const { receiver, errors } = keepingReceiver({
      store,
      handle: (_event, { signal }) =>
        isReplay ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))) : bug(),
    })
    await statusOf(receiver, activity({ id: 'm-1' }))
    isReplay = true
    const replay = receiver.replay(keyOf('m-1'))
    await vi.advanceTimersByTimeAsync(239_999)
    expect(calls.filter((call) => call === 'extend').length).toBeGreaterThan(10)
    expect(errors).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(await replay).toBe('failed')
    expect(errors.at(-1)?.error).toMatchObject({ code: 'run_time_exceeded' })
    expect(await failedMessages(receiver)).toMatchObject([
      { reason: 'interrupted', error: expect.stringContaining('LeaseError') },
    ])
  })

  const reason = new Error('the operator has stopped it')

  test('that is aborted rejects with the reason, and its claim is released', async () => {
    const controller = new AbortController()
    const { receiver, errors, replay } = await startReplay(controller.signal)
    controller.abort(reason)
    await expect(replay).rejects.toBe(reason)
    expect(await failedMessages(receiver)).toMatchObject([
      { attempts: 2, reason: 'interrupted', error: String(reason) },
    ])
    expect(errors).toHaveLength(1)

    await expect(receiver.replay(keyOf('m-1'), { signal: controller.signal })).rejects.toBe(reason)
    expect(await failedMessages(receiver)).toMatchObject([{ attempts: 2 }])
  })

  test('that is aborted keeps its claim while the handler ignores its signal', async () => {
    const controller = new AbortController()
    const [running, ended] = [deferred(), deferred()]
    let isReplay = false
    const { receiver } = keepingReceiver({
      handle() {
        if (!isReplay) bug()
        running.resolve()
        return ended.promise
      },
    })
    await statusOf(receiver, activity({ id: 'm-1' }))
    isReplay = true
    const replay = receiver.replay(keyOf('m-1'), { signal: controller.signal })
    await running.promise
    controller.abort(reason)
    await expect(replay).rejects.toBe(reason)
    expect(await receiver.replay(keyOf('m-1'))).toBe('busy')
    ended.resolve()
    await expect.poll(() => receiver.replay(keyOf('m-1'))).toBe('duplicate')
  })

  test('that is aborted while the store takes the message rejects at once, and a late claim is released', async () => {
    const inner = sqliteStore(openDatabase())
    const free = deferred()
    const store: typeof inner = {
      ...inner,
      async take(...args) {
        await free.promise
        return inner.take(...args)
      },
    }
    const { receiver, handled } = observedReceiver({ store, keepFailed: true, handle: bug })
    await statusOf(receiver, activity({ id: 'm-1' }))
    const controller = new AbortController()
    const replay = receiver.replay(keyOf('m-1'), { signal: controller.signal })
    controller.abort(reason)
    await expect(replay).rejects.toBe(reason)
    free.resolve()
    await expect
      .poll(() => failedMessages(receiver))
      .toMatchObject([{ attempts: 2, reason: 'interrupted', error: String(reason) }])
    expect(handled).toHaveLength(1)
  })

  test.each<[string, Partial<DeliveryStore>, RegExp]>([
    ['completes nothing', { complete: () => Promise.reject(new Error('ECONNREFUSED')) }, /ECONNREFUSED/],
    ['has lost the claim', { complete: async () => false }, /another receiver claimed/],
  ])('failed if the handler succeeds and the store %s', async (_, overrides, cause) => {
    let isMended = false
    const { receiver, errors } = keepingReceiver({
      // The delays of the attempts shrink with the lease.
      leaseMs: 6000,
      store: { ...sqliteStore(openDatabase()), ...overrides },
      handle: () => isMended || bug(),
    })
    await statusOf(receiver, activity({ id: 'm-1' }))
    isMended = true
    expect(await receiver.replay(keyOf('m-1'))).toBe('failed')
    expect(errors.at(-1)).toMatchObject({
      error: { message: expect.stringMatching(cause) },
      context: { stage: 'complete' },
    })
  })

  test('rejects with the error of the store', async () => {
    const inner = sqliteStore(openDatabase())
    const store = { ...inner, take: () => Promise.reject(new Error('ECONNREFUSED')) }
    const { receiver } = observedReceiver({ store, keepFailed: true })
    await expect(receiver.replay(keyOf('m-1'))).rejects.toThrow('ECONNREFUSED')
  })
})

describe('close()', () => {
  test('interrupts a replay, whose message stays; then failed() and forget() work, and replay() rejects', async () => {
    const { receiver, replay } = await startReplay()
    await receiver.close({ timeoutMs: 0 })
    expect(await replay).toBe('failed')
    expect(await failedMessages(receiver)).toMatchObject([{ id: 'm-1', reason: 'interrupted' }])
    await expect(receiver.replay(keyOf('m-1'))).rejects.toThrow(ConfigurationError)
    expect(await receiver.forget(keyOf('m-1'))).toBe(true)
  })

  test('keeps the message of a handler that it abandons', async () => {
    const { receiver, handled } = keepingReceiver({ handle: () => new Promise(() => {}) })
    const attempt = statusOf(receiver, activity({ id: 'm-1' }))
    await expect.poll(() => handled.length).toBe(1)
    await receiver.close({ timeoutMs: 0 })
    expect(await attempt).toBe(503)
    expect(await failedMessages(receiver)).toMatchObject([{ id: 'm-1', reason: 'interrupted' }])
  })
})

describe("with unexpectedShape: 'retry'", () => {
  const message = activity({ id: 'm-1', user: null })

  test('a refused message is kept, refused by a replay, and handled by a replay that accepts the shape', async () => {
    const { receiver, database, handled, rejections } = keepingReceiver({ unexpectedShape: 'retry' })
    for (const attempts of [1, 2]) {
      expect(await statusOf(receiver, message)).toBe(500)
      expect(await failedMessages(receiver)).toMatchObject([
        {
          id: 'm-1',
          kind: 'unknown',
          attempts,
          reason: 'unexpected_shape',
          error: expect.stringMatching(/^WebhookShapeError: .*user/),
        },
      ])
    }
    expect(rejections).toMatchObject([{ reason: 'unexpected_shape' }, { reason: 'unexpected_shape' }])
    expect(await receiver.replay(keyOf('m-1'))).toBe('failed')
    expect(handled).toEqual([])
    const accepting = keepingReceiver({}, database)
    expect(await accepting.receiver.replay(keyOf('m-1'))).toBe('handled')
    expect(accepting.handled).toMatchObject([{ kind: 'unknown' }])
    expect(await statusOf(receiver, message)).toBe(200)
  })

  test('the response is 500 even if the store fails, and onError is called', async () => {
    const store = { ...sqliteStore(openDatabase()), claim: () => Promise.reject(new Error('ECONNREFUSED')) }
    const { receiver, rejections, errors } = observedReceiver({ store, keepFailed: true, unexpectedShape: 'retry' })
    expect(await statusOf(receiver, message)).toBe(500)
    expect(rejections).toMatchObject([{ reason: 'unexpected_shape' }])
    expect(errors).toMatchObject([{ context: { stage: 'claim' } }])
  })
})

describe('keepFailed', () => {
  test.each([
    ['memoryStore', undefined],
    ['a store of your own', recordingStore(memoryStore()).store],
  ])('over %s is refused', (_, store) => {
    const create = () => observedReceiver({ store, keepFailed: true })
    expect(create).toThrow(ConfigurationError)
    expect(create).toThrow(
      'keepFailed needs a store that keeps messages, and store lacks the methods failed, take, forget; ' +
        'pass sqliteStore(path) or postgresStore(pool)',
    )
  })

  test('is off by default: then nothing is kept, and the methods need a store that keeps messages', async () => {
    const { receiver } = keepingReceiver({ keepFailed: undefined, handle: bug })
    await statusOf(receiver, activity())
    expect(await failedMessages(receiver)).toEqual([])
    const { receiver: other } = observedReceiver()
    expect(() => other.failed()).toThrow(ConfigurationError)
    await expect(other.replay(keyOf('m-1'))).rejects.toThrow(ConfigurationError)
    await expect(other.forget(keyOf('m-1'))).rejects.toThrow(
      'the store keeps no messages: it lacks the methods failed, take, forget; use sqliteStore or postgresStore, or your own store with these methods',
    )
  })

  test.each<[unknown, string]>([
    ['yes', 'keepFailed must be true, false or an object, got string'],
    [{ retainMs: 0 }, 'keepFailed.retainMs must be a number of milliseconds above 0'],
    [{ days: 30 }, 'keepFailed.days is not an option'],
  ])('refuses %j', (keepFailed, problem) => {
    expect(() => keepingReceiver({ keepFailed: keepFailed as boolean })).toThrow(problem)
  })

  test.each([[{ olderThanMs: -1 }], [{ olderThan: 1 }]])('failed() refuses %j', (options) => {
    expect(() => keepingReceiver().receiver.failed(options as object)).toThrow(ConfigurationError)
  })

  test.each([[{ signal: 'stop' }], [{ abort: 1 }]])('replay() refuses %j', async (options) => {
    await expect(keepingReceiver().receiver.replay(keyOf('m-1'), options as object)).rejects.toThrow(ConfigurationError)
  })

  test.each([undefined, null, 5])('replay() and forget() refuse the key %s', async (key) => {
    const { receiver } = keepingReceiver()
    for (const call of [receiver.replay, receiver.forget]) {
      await expect(call(key as never)).rejects.toThrow(TypeError)
      await expect(call(key as never)).rejects.toThrow(
        /^key must be a string, the key of a message from failed\(\); got /,
      )
    }
  })

  test('needs no further statement for a message that is handled at the first attempt', async () => {
    const spies = [vi.spyOn(DatabaseSync.prototype, 'exec'), vi.spyOn(StatementSync.prototype, 'get')]
    onTestFinished(() => void vi.restoreAllMocks())
    const counts: number[] = []
    for (const keepFailed of [false, true]) {
      const { receiver } = keepingReceiver({ keepFailed })
      await statusOf(receiver, activity())
      for (const spy of spies) spy.mockClear()
      await statusOf(receiver, activity())
      counts.push(spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0))
    }
    expect(counts[0]).toBeGreaterThan(0)
    expect(counts[1]).toBe(counts[0])
  })

  test('on a full disk leaves the response as it would be, and tells onError', async () => {
    const { receiver, database, errors, handled } = keepingReceiver()
    await statusOf(receiver, activity())
    const pages = Object.values(database.prepare('PRAGMA page_count').get() ?? {})[0]
    database.exec(`PRAGMA max_page_count = ${pages}`)
    const message = activity({ id: 'm-1', note: 'x'.repeat(20_000) })
    expect(await statusOf(receiver, message)).toBe(200)
    expect(handled).toHaveLength(2)
    expect(errors).toMatchObject([
      {
        error: { message: expect.stringContaining('had no space'), cause: { errcode: 13 } },
        context: { stage: 'claim' },
      },
    ])
    expect(await statusOf(receiver, message)).toBe(200)
    expect(handled).toHaveLength(2)
  })
})

describe('a table of an earlier version', () => {
  const OLDER = `CREATE TABLE campaign_deliveries (
      purpose TEXT NOT NULL CHECK (purpose IN ('delivery', 'run_once')), key TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('claimed', 'done')), token TEXT, expires_at INTEGER NOT NULL,
      PRIMARY KEY (purpose, key)
    ) STRICT, WITHOUT ROWID`

  test('goes on working without keepFailed', async () => {
    const database = openDatabase(OLDER)
    const store = sqliteStore(database)
    let fails = true
    const { receiver } = observedReceiver({
      store,
      async handle(_event, { key }) {
        await store.runOnce(key, () => undefined)
        if (fails) bug()
      },
    })
    const message = activity()
    expect(await statusOf(receiver, message)).toBe(500)
    fails = false
    expect(await statusOf(receiver, message)).toBe(200)
    expect(await statusOf(receiver, message)).toBe(200)
    database.exec('UPDATE campaign_deliveries SET expires_at = 0')
    expect(await store.prune()).toBe(2)
  })

  test('with keepFailed causes 503 and an error with the statement to run, which mends it', async () => {
    const { receiver, database, errors, handled } = keepingReceiver({}, openDatabase(OLDER))
    expect(await statusOf(receiver, activity())).toBe(503)
    expect(errors).toMatchObject([{ error: expect.any(ConfigurationError), context: { stage: 'claim' } }])
    const [, statement = ''] = /Run: (.*;)/.exec(String(errors[0]?.error)) ?? []
    await expect(failedMessages(receiver)).rejects.toThrow(ConfigurationError)
    database.exec(statement)
    expect(await statusOf(receiver, activity())).toBe(200)
    expect(handled).toHaveLength(1)
    expect(database.prepare('PRAGMA table_info(campaign_deliveries)').all()).toEqual(
      openDatabase().prepare('PRAGMA table_info(campaign_deliveries)').all(),
    )
  })
})

test('a receiver that is created with a secret needs no secret for a replay', async () => {
  let isDown = false
  let isMended = false
  const { receiver } = keepingReceiver({
    secret: () => (isDown ? Promise.reject(new Error('vault')) : SECRET),
    handle: () => isMended || bug(),
  })
  await statusOf(receiver, activity({ id: 'm-1' }))
  ;[isDown, isMended] = [true, true]
  expect(await receiver.replay(keyOf('m-1'))).toBe('handled')
})
