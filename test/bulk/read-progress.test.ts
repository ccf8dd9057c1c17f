import { getEventListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import {
  BadRequestError,
  type CallOptions,
  type CommonClientOptions,
  ConfigurationError,
  type FetchLike,
  type GetUserProgressRequest,
  InvalidRequestError,
  NetworkError,
  RateLimitError,
  ServiceError,
  UnauthorizedError,
  type UserProgress,
} from 'campaign-client'
import { type ProgressReading, type ReadingProgress, readProgress } from 'campaign-client/bulk'
import { createCampaignService } from 'campaign-client/testing'
import { describe, expect, test, vi } from 'vitest'
import { skipPauses } from '../support/skip-pauses.ts'
import { setup as setupAwards } from './fixtures.ts'

interface User extends GetUserProgressRequest {
  readonly number: number
}

const user = (number: number): User => ({ account: `user-${number}`, platform: 'discord', pid: 'demo', number })
const users = (count: number): User[] => Array.from({ length: count }, (_, number) => user(number))

/** Creates a client of a service that knows the first 2 000 users, except numbers 7 and 1 007. */
function setup(options: Partial<CommonClientOptions> & { fetch?: FetchLike | undefined } = {}) {
  const known = users(2_000).flatMap(({ number, account, platform }) =>
    number % 1_000 === 7 ? [] : [{ account, platform }],
  )
  const service = createCampaignService({ campaigns: [{ id: 'demo', name: 'Demo', users: known }] })
  const { client } = setupAwards({ fetch: service.fetch, ...options })
  return { client, service }
}

async function collect<Each>(readings: AsyncIterable<Each>): Promise<Each[]> {
  const all: Each[] = []
  for await (const reading of readings) all.push(reading)
  return all
}

/** Collects the readings until the iteration throws. */
async function collectUntilError(readings: AsyncIterable<ProgressReading<User>>) {
  const found: ProgressReading<User>[] = []
  try {
    for await (const reading of readings) found.push(reading)
  } catch (error) {
    return { found, error }
  }
  return expect.unreachable('the iteration did not throw')
}

const progressOf = ({ account }: GetUserProgressRequest) => ({ user_id: account }) as UserProgress
const lost = () => new NetworkError('lost', { operation: 'getUserProgress' })
const init = { status: 429, headers: {} }

/** Returns a client whose calls wait until the test calls their function in `waiting`. */
function heldClient() {
  const waiting: ((error?: Error) => void)[] = []
  const signals: (AbortSignal | undefined)[] = []
  return {
    waiting,
    signals,
    getUserProgress: (request: GetUserProgressRequest, options?: CallOptions) =>
      new Promise<UserProgress>((resolve, reject) => {
        signals.push(options?.signal)
        options?.signal?.addEventListener('abort', () => reject(options.signal?.reason))
        waiting.push((error) => (error === undefined ? resolve(progressOf(request)) : reject(error)))
      }),
  }
}

describe('readProgress', () => {
  test('yields each user once, with the same object and the progress', async () => {
    const { client } = setup()
    const given = users(40).filter(({ number }) => number !== 7)
    async function* list() {
      yield* given
    }
    for (const rows of [given, new Set(given), list()]) {
      const readings = await collect(readProgress(client, rows))
      expect(new Set(readings.map(({ user }) => user))).toEqual(new Set(given))
      expect(readings).toHaveLength(given.length)
      for (const { user, progress, error } of readings) {
        expect(error).toBeUndefined()
        expect(progress?.user_id).toBe(user.account)
      }
    }
  })

  test('yields the users in the order in which their calls end, at most `concurrency` at once', async () => {
    const client = heldClient()
    const readings = readProgress(client, users(5), { concurrency: 2 })
    const first = readings.next()
    await expect.poll(() => client.waiting).toHaveLength(2)
    client.waiting[1]?.()
    expect((await first).value?.user.number).toBe(1)
    const second = readings.next()
    await expect.poll(() => client.waiting).toHaveLength(3)
    client.waiting[2]?.()
    expect((await second).value?.user.number).toBe(2)
    await readings.return()
  })

  test('reads every user despite 100 responses of 503, five of 429, and two refused users', async () => {
    skipPauses()
    const { client, service } = setup()
    service.fail({ on: 'getUserProgress', kind: 'delay', delayMs: 0, times: 500 })
    service.fail({ on: 'getUserProgress', kind: 'status', status: 503, times: 60 })
    service.fail({ on: 'getUserProgress', kind: 'status', status: 429, headers: { 'retry-after': '2' }, times: 3 })
    service.fail({ on: 'getUserProgress', kind: 'delay', delayMs: 0, times: 200 })
    service.fail({ on: 'getUserProgress', kind: 'status', status: 503, times: 40 })
    service.fail({ on: 'getUserProgress', kind: 'status', status: 429, times: 2 })
    const readings = await collect(readProgress(client, users(2_000)))
    expect(new Set(readings.map(({ user }) => user)).size).toBe(2_000)
    expect(readings).toHaveLength(2_000)
    const failed = readings.filter(({ error }) => error !== undefined)
    expect(failed.map(({ user }) => user.number).sort()).toEqual([1_007, 7])
    for (const { error } of failed) expect(error).toBeInstanceOf(BadRequestError)
    expect(service.pendingFaults()).toEqual([])
  })

  test('reads a user after all others, twice, when the failure is temporary; then yields the error', async () => {
    const calls: string[] = []
    const failures: Record<string, number> = { 'user-0': 2, 'user-1': 3 }
    const client = {
      async getUserProgress(request: GetUserProgressRequest) {
        calls.push(request.account)
        const left = failures[request.account] ?? 0
        failures[request.account] = left - 1
        if (left > 0) throw new ServiceError('no', { status: 503, headers: {} })
        return progressOf(request)
      },
    }
    const readings = await collect(readProgress(client, users(4), { concurrency: 1 }))
    expect(calls.map((account) => Number(account.slice('user-'.length)))).toEqual([0, 1, 2, 3, 0, 1, 0, 1])
    expect(readings.map(({ user, error }) => [user.number, error?.code])).toEqual([
      [2, undefined],
      [3, undefined],
      [0, undefined],
      [1, 'service_error'],
    ])
  })

  test.each(['misshapen', 'garbage'] as const)('yields the error of a %s response at once', async (kind) => {
    const { client, service } = setup()
    service.fail({ on: 'getUserProgress', kind })
    const readings = await collect(readProgress(client, users(3), { concurrency: 1 }))
    expect(readings.map(({ error }) => error?.code)).toEqual(['unexpected_response', undefined, undefined])
    expect(service.requests).toHaveLength(3)
  })

  test.each([400, 403, 404, 409])('yields the error of a %i at once, and reads the others', async (status) => {
    const { client, service } = setup()
    service.fail({ on: 'getUserProgress', kind: 'status', status })
    const readings = await collect(readProgress(client, users(3), { concurrency: 1 }))
    expect(readings.map(({ error }) => error !== undefined)).toEqual([true, false, false])
    expect(service.requests).toHaveLength(3)
  })

  test('yields the error of an invalid user at once', async () => {
    const { client, service } = setup()
    const wrong = [{ account: '', platform: 'discord', pid: 'demo' }, null, 'ada', {}] as never[]
    const readings = await collect(readProgress(client, [...wrong, user(1)], { concurrency: 1 }))
    expect(readings.map(({ user }) => user)).toEqual([...wrong, user(1)])
    expect(readings.map(({ error }) => error instanceof InvalidRequestError)).toEqual([true, true, true, true, false])
    expect(service.requests).toHaveLength(1)
  })

  test('yields a user without data, if the client only reports misshapen responses', async () => {
    const fetch = async () => Response.json({ success: true })
    const { client } = setup({ fetch, responseValidation: 'report' })
    expect(await collect(readProgress(client, users(1)))).toEqual([{ user: user(0), progress: undefined }])
  })

  test('passes only the three arguments of the call', async () => {
    const getUserProgress = vi.fn(async (request: GetUserProgressRequest, _options?: CallOptions) =>
      progressOf(request),
    )
    await collect(readProgress({ getUserProgress }, users(1)))
    expect(getUserProgress).toHaveBeenCalledWith(
      { account: 'user-0', platform: 'discord', pid: 'demo' },
      { signal: expect.any(AbortSignal) },
    )
  })
})

describe('the iteration ends with the error', () => {
  test.each([
    [undefined, 120_000],
    [0, 1_750],
    [30_000, 30_000],
  ])('of a service that stops responding, with patienceMs %j after %i ms', async (patienceMs, expectedMs) => {
    const elapsedMs = skipPauses()
    let calls = 0
    const getUserProgress = async (request: GetUserProgressRequest) => {
      if (++calls === 1) return progressOf(request)
      throw lost()
    }
    const waits: ReadingProgress['waiting'][] = []
    const onProgress = ({ waiting }: ReadingProgress) => void waits.push(waiting)
    const options = { concurrency: 1, patienceMs, onProgress }
    const { found, error } = await collectUntilError(readProgress({ getUserProgress }, users(50), options))
    expect(error).toMatchObject({ code: 'network' })
    expect(found).toHaveLength(1)
    expect(elapsedMs()).toBeCloseTo(expectedMs, -1)
    const during = waits.flatMap((waiting) => (waiting?.for === 'outage' ? [waiting] : []))
    expect(during.length).toBeGreaterThan(2)
    for (const { sinceMs, givesUpMs } of during) expect(sinceMs + givesUpMs).toBeCloseTo(expectedMs, -1)
    expect(waits.at(-1)).toBeNull()
  })

  test('of a 401, after the results of the calls in flight', async () => {
    const client = heldClient()
    const run = collectUntilError(readProgress(client, users(50), { concurrency: 3 }))
    await expect.poll(() => client.waiting).toHaveLength(3)
    const unauthorized = new UnauthorizedError('no', { status: 401, headers: {} })
    client.waiting[1]?.(unauthorized)
    await turn()
    client.waiting[0]?.()
    client.waiting[2]?.()
    const { found, error } = await run
    expect(error).toBe(unauthorized)
    expect(found.map(({ user }) => user.number)).toEqual([0, 2])
    expect(client.waiting).toHaveLength(3)
  })

  test('of a 401, even if the list never yields again', async () => {
    const client = heldClient()
    async function* list() {
      yield* users(2)
      await new Promise(() => undefined)
    }
    const run = collectUntilError(readProgress(client, list(), { concurrency: 3 }))
    await expect.poll(() => client.waiting).toHaveLength(2)
    const unauthorized = new UnauthorizedError('no', { status: 401, headers: {} })
    client.waiting[0]?.(unauthorized)
    client.waiting[1]?.()
    const { found, error } = await run
    expect(error).toBe(unauthorized)
    expect(found.map(({ user }) => user.number)).toEqual([1])
  })

  test('of a token source', async () => {
    const { client } = setup({ accessToken: () => Promise.reject(new Error('the vault is locked')) })
    const { found, error } = await collectUntilError(readProgress(client, users(5)))
    expect(error).toMatchObject({ code: 'access_token' })
    expect(found).toEqual([])
  })

  test('of the list, after the results of the calls in flight', async () => {
    const failure = new Error('the cursor is closed')
    function* list() {
      yield* users(3)
      throw failure
    }
    const { client } = setup()
    const { found, error } = await collectUntilError(readProgress(client, list(), { concurrency: 2 }))
    expect(error).toBe(failure)
    expect(found).toHaveLength(3)
  })
})

describe('a stop', () => {
  test('by `break` aborts the calls in flight and lets the list clean up', async () => {
    const client = heldClient()
    const cleaned = vi.fn()
    async function* list() {
      try {
        for (let number = 0; ; number++) yield user(number)
      } finally {
        cleaned()
      }
    }
    const answerFirst = async () => {
      await expect.poll(() => client.waiting).toHaveLength(3)
      const [answer] = client.waiting as [() => void]
      answer()
    }
    const answered = answerFirst()
    for await (const { user } of readProgress(client, list(), { concurrency: 3 })) {
      expect(user.number).toBe(0)
      break
    }
    await answered
    expect(cleaned).toHaveBeenCalledOnce()
    expect(client.signals.map((signal) => signal?.aborted)).toEqual([true, true, true])
  })

  test('by the signal aborts the calls in flight, and the iteration throws its reason', async () => {
    const client = heldClient()
    const controller = new AbortController()
    const { signal } = controller
    const run = collectUntilError(readProgress(client, users(10), { concurrency: 3, signal }))
    await expect.poll(() => client.waiting).toHaveLength(3)
    const reason = new Error('the operator stopped it')
    controller.abort(reason)
    expect((await run).error).toBe(reason)
    expect(client.signals.map((each) => each?.aborted)).toEqual([true, true, true])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('by an aborted signal sends nothing', async () => {
    const client = heldClient()
    const { error } = await collectUntilError(readProgress(client, users(10), { signal: AbortSignal.abort('no') }))
    expect(error).toBe('no')
    expect(client.waiting).toEqual([])
  })

  test('by the signal ends a pause', async () => {
    const controller = new AbortController()
    const limited = new RateLimitError('wait', { ...init, retryAfterMs: 600_000 })
    const getUserProgress = vi.fn(() => Promise.reject(limited))
    const run = collectUntilError(readProgress({ getUserProgress }, users(10), { signal: controller.signal }))
    // The pause begins in the same turn of the event loop as the call.
    await expect.poll(() => getUserProgress).toHaveBeenCalled()
    await turn()
    controller.abort('enough')
    expect((await run).error).toBe('enough')
  })

  test('by the signal does not wait for a list that never yields', async () => {
    const controller = new AbortController()
    const next = vi.fn(() => new Promise<never>(() => undefined))
    const list = { [Symbol.asyncIterator]: () => ({ next }) }
    const { client } = setup()
    const run = collectUntilError(readProgress(client, list, { signal: controller.signal }))
    await expect.poll(() => next).toHaveBeenCalled()
    controller.abort('enough')
    expect((await run).error).toBe('enough')
  })
})

test('a result does not wait for the next user of a slow list', async () => {
  const { client } = setup()
  let yieldSecond: () => void = () => undefined
  async function* list() {
    yield user(0)
    await new Promise<void>((resolve) => {
      yieldSecond = resolve
    })
    yield user(1)
  }
  const readings = readProgress(client, list())
  expect((await readings.next()).value?.user.number).toBe(0)
  const second = readings.next()
  yieldSecond()
  expect((await second).value?.user.number).toBe(1)
  expect((await readings.next()).done).toBe(true)
})

test('at most `concurrency` results wait for a slow consumer', async () => {
  const { client, service } = setup()
  const readings = readProgress(client, users(100), { concurrency: 4 })
  await readings.next()
  for (let turns = 0; turns < 200; turns++) await turn()
  expect(service.requests.length).toBeLessThanOrEqual(1 + 4)
  await readings.return()
})

test('onProgress gets the counts, the total and an estimate at the end', async () => {
  const { client, service } = setup()
  service.fail({ on: 'getUserProgress', kind: 'status', status: 400 })
  const reported: ReadingProgress[] = []
  await collect(readProgress(client, users(20), { onProgress: (each) => void reported.push(each) }))
  expect(reported[0]).toMatchObject({ total: 20, waiting: null, timeLeftMs: null })
  expect(reported.at(-1)).toMatchObject({ users: 20, total: 20, counts: { read: 18, failed: 2 } })
})

test.each([
  ['a client without the method', {}, [], {}, /client must have the method getUserProgress, got object/],
  [
    'users that are no list',
    createCampaignService,
    {},
    {},
    /users must be an iterable or an async iterable, got object/,
  ],
  ['a string as users', createCampaignService, 'ada', {}, /users must be an iterable/],
])('%s is refused at once', (_, client, list, options, words) => {
  const given = client === createCampaignService ? setup().client : client
  const call = () => readProgress(given as never, list as never, options as never)
  expect(call).toThrow(InvalidRequestError)
  expect(call).toThrow(words)
})

test('a concurrency of 0 is refused at once', () => {
  const call = () => readProgress(setup().client, [], { concurrency: 0 })
  expect(call).toThrow(ConfigurationError)
  expect(call).toThrow(/concurrency must be a whole number/)
})
