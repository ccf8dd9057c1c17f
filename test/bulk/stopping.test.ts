import { getEventListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import {
  AccessDeniedError,
  CampaignClient,
  ConfigurationError,
  NetworkError,
  ServiceError,
  UnauthorizedError,
} from 'campaign-client'
import { type AwardProgress, type AwardReport, type AwardRow, fileLedger, rewardWallets } from 'campaign-client/bulk'
import { createCampaignService } from 'campaign-client/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { skipPauses } from '../support/skip-pauses.ts'
import { award, awards, counts, entriesOf, holdCalls, newPath, setup, stopErrorOf, verdictsOf } from './fixtures.ts'

function withThrowingGetters(error: Error, ...names: readonly string[]): Error {
  const get = (): never => {
    throw new Error('do not read me')
  }
  for (const name of names) Object.defineProperty(error, name, { get })
  return error
}

describe('a thrown value', () => {
  const THROWN: readonly (readonly [string, unknown])[] = [
    ['undefined', undefined],
    ['a symbol', Symbol('thrown')],
    ['an error with a symbol as its name', Object.assign(new Error('odd'), { name: Symbol('name') })],
    ['an error whose getters throw', withThrowingGetters(new Error('odd'), 'name', 'message', 'code')],
    [
      'an error of this package whose getters throw',
      withThrowingGetters(new NetworkError('odd', {}), 'outcome', 'code'),
    ],
  ]
  const raise = (error: unknown): never => {
    throw error
  }
  const PLACES: Readonly<Record<string, (path: string, thrown: unknown) => Promise<AwardReport>>> = {
    'the list': (path, thrown) =>
      rewardWallets(
        setup().client,
        { [Symbol.iterator]: () => ({ next: () => raise(thrown) }) },
        { ledger: fileLedger(path) },
      ),
    'the client': (path, thrown) =>
      rewardWallets({ rewardWallet: async () => raise(thrown) }, awards(1), { ledger: fileLedger(path) }),
    'the signal': (path, thrown) => {
      const controller = new AbortController()
      const rewardWallet = async () => controller.abort(thrown)
      return rewardWallets({ rewardWallet }, awards(100), { ledger: fileLedger(path), signal: controller.signal })
    },
  }
  const cases = Object.keys(PLACES).flatMap((place) => THROWN.map(([name, thrown]) => [place, name, thrown] as const))

  test.each(cases)('from %s is the cause of the stop: %s', async (place, name, thrown) => {
    const path = newPath()
    const { cause, report, message } = await stopErrorOf(PLACES[place]?.(path, thrown) as Promise<AwardReport>)
    // An abort without a reason has a default reason.
    if (place === 'the signal' && name === 'undefined') expect(cause).toMatchObject({ name: 'AbortError' })
    else expect(cause === thrown).toBe(true)
    expect(report.complete).toBe(false)
    expect(message).not.toContain('the ledger failed')
    // The next run can open the ledger and completes the list.
    const { client } = setup()
    expect((await rewardWallets(client, awards(100), { ledger: fileLedger(path) })).complete).toBe(true)
  })

  test.each(THROWN)('from confirm makes the award indeterminate: %s', async (_, thrown) => {
    const { client, service } = setup()
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400 })
    const confirm = () => raise(thrown)
    const report = await rewardWallets(client, awards(1), { ledger: fileLedger(newPath()), confirm })
    expect(report.counts).toEqual(counts({ indeterminate: 1 }))
  })
})

describe('failures that end a run', () => {
  test('401: calls in flight are completed, nothing is rejected, and the next run continues', async () => {
    const { client, service } = setup()
    const path = newPath()
    const rows = awards(20)
    service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 200, times: 3 })
    service.fail({ on: 'rewardWallet', kind: 'status', status: 401 })
    const { cause, report, message } = await stopErrorOf(
      rewardWallets(client, rows, { ledger: fileLedger(path), concurrency: 4 }),
    )
    expect(cause).toBeInstanceOf(UnauthorizedError)
    expect(message).toMatch(/other calls would fail as well.*HTTP 401.*run it again with the same ledger/s)
    expect(report).toMatchObject({ counts: counts({ awarded: 3 }), complete: false })
    expect(Object.values(await verdictsOf(path))).toEqual(['awarded', 'awarded', 'awarded'])

    const next = await rewardWallets(client, rows, { ledger: fileLedger(path) })
    expect(next).toMatchObject({ counts: counts({ awarded: 20 }), fromLedger: 3, complete: true })
    expect(service.state.awards).toHaveLength(20)
  })

  test.each(['not_applied', 'unknown'] as const)('an unreachable service: %s', async (outcome) => {
    const elapsedMs = skipPauses()
    const calls: number[] = []
    const lost = {
      async rewardWallet() {
        calls.push(elapsedMs())
        throw new NetworkError('lost', { operation: 'rewardWallet', outcome })
      },
    }
    const path = newPath()
    const { message, report } = await stopErrorOf(
      rewardWallets(lost, awards(30), { ledger: fileLedger(path), concurrency: 1 }),
    )
    expect(message).toContain("the service can't be reached")
    // Three calls, then one probe after each of three pauses.
    expect(calls).toEqual([0, 0, 0, 250, 750, 1_750])
    const indeterminateCount = outcome === 'unknown' ? 6 : 0
    expect(report.counts).toEqual(counts({ indeterminate: indeterminateCount }))
    expect(await entriesOf(path)).toHaveLength(indeterminateCount)
  })

  test('an abort: its reason is the cause, and calls in flight are completed', async () => {
    const { client, service } = setup()
    const path = newPath()
    const controller = new AbortController()
    const slow = holdCalls(client)
    const run = rewardWallets(slow, awards(100), {
      ledger: fileLedger(path),
      concurrency: 4,
      signal: controller.signal,
    })
    await expect.poll(() => slow.waiting).toHaveLength(4)
    const reason = new Error('the operator stopped the run')
    controller.abort(reason)
    for (const resume of slow.waiting) resume()
    const stop = await stopErrorOf(run)
    expect(stop.cause).toBe(reason)
    expect(stop.report.counts).toEqual(counts({ awarded: 4 }))
    expect(service.state.awards).toHaveLength(4)
    expect(await entriesOf(path)).toHaveLength(4)
  })

  test('an abort before the start: nothing is opened, read or sent', async () => {
    const { client, sent } = setup()
    const path = newPath()
    const rows = {
      next: vi.fn(() => ({ done: true as const, value: undefined })),
      [Symbol.iterator]() {
        return this
      },
    }
    const stop = await stopErrorOf(
      rewardWallets(client, rows, { ledger: fileLedger(path), signal: AbortSignal.abort('no') }),
    )
    expect(stop.cause).toBe('no')
    expect(stop.message).toContain('rewardWallets stopped: the signal was aborted')
    expect(stop.report).toMatchObject({ rows: 0, complete: false })
    expect(rows.next).not.toHaveBeenCalled()
    expect(sent()).toBe(0)
    await expect(entriesOf(path)).rejects.toThrow('does not exist')
  })

  test('a run that ends leaves no listener on the signal', async () => {
    const { signal } = new AbortController()
    await rewardWallets(setup().client, awards(2), { ledger: fileLedger(newPath()), signal })
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('an abort waits ten seconds for a confirm that never resolves', async () => {
    const { client, service } = setup()
    const path = newPath()
    const controller = new AbortController()
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400 })
    const confirm = vi.fn(() => new Promise<boolean>(() => undefined))
    const run = stopErrorOf(
      rewardWallets(client, awards(1), {
        ledger: fileLedger(path),
        signal: controller.signal,
        confirm,
        concurrency: 1,
      }),
    )
    await expect.poll(() => confirm).toHaveBeenCalled()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    controller.abort()
    await vi.advanceTimersByTimeAsync(9_900)
    expect(await Promise.race([run, 'waiting'])).toBe('waiting')
    await vi.advanceTimersByTimeAsync(200)
    vi.useRealTimers()
    const { report } = await run
    expect(report.counts).toEqual(counts({ indeterminate: 1 }))
    expect(report.problems).toMatchObject([{ reason: expect.stringContaining('confirm threw') }])
    expect(await entriesOf(path)).toMatchObject([{ verdict: 'indeterminate', error: { code: 'evidence_failed' } }])
  })

  test('twenty equal refusals before any success', async () => {
    const { client, service, sent } = setup()
    const path = newPath()
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: Infinity })
    const stop = await stopErrorOf(rewardWallets(client, awards(500), { ledger: fileLedger(path), concurrency: 4 }))
    expect(stop.cause).toMatchObject({ code: 'bad_request' })
    expect(stop.message).toContain('20 awards were refused in the same way')
    const { rejected } = stop.report.counts
    expect(rejected).toBeGreaterThanOrEqual(20)
    expect(rejected).toBeLessThan(20 + 4)
    expect(sent()).toBe(rejected)
    expect(Object.values(await verdictsOf(path)).filter((verdict) => verdict === 'rejected')).toHaveLength(rejected)
  })

  test('twenty refusals of different kinds, or after a success, do not end a run', async () => {
    const { client, service } = setup()
    for (const status of [400, 409]) service.fail({ on: 'rewardWallet', kind: 'status', status, times: 19 })
    expect((await rewardWallets(client, awards(40), { ledger: fileLedger(newPath()), concurrency: 2 })).counts).toEqual(
      counts({ rejected: 38, awarded: 2 }),
    )
    const later = fileLedger(newPath())
    await rewardWallets(client, awards(1, 100), { ledger: later })
    const rows = [...awards(1, 200), ...awards(30, 300)]
    service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 0 })
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: 30 })
    expect((await rewardWallets(client, rows, { ledger: later, concurrency: 1 })).counts.rejected).toBe(30)
  })

  test('refusals of rows in doubt do not end a run, even after a kill with 64 requests in flight', async () => {
    const { client, service, sent } = setup()
    const ledger = fileLedger(newPath())
    service.fail({ on: 'rewardWallet', kind: 'status', status: 500, applied: true, times: 64 })
    await rewardWallets(client, awards(64), { ledger })
    const before = sent()
    const report = await rewardWallets(client, awards(64), { ledger, concurrency: 1, confirm: false })
    expect(report).toMatchObject({ counts: counts({ unconfirmed: 64 }), complete: true })
    expect(sent() - before).toBe(64)
    // The refusals of other rows still count.
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: Infinity })
    const rows = awards(500, 100)
    const stop = await stopErrorOf(rewardWallets(client, rows, { ledger, concurrency: 1 }))
    expect(stop.report.counts).toEqual(counts({ rejected: 20 }))
  })

  test('a confirmed award counts as a success after a lost response, in a later run too, but not if its id was used before', async () => {
    const { client, service } = setup()
    const ledger = fileLedger(newPath())
    service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
    await rewardWallets(client, awards(1), { ledger })
    await client.rewardWallet(award(1))
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: Infinity })
    const rows = (first: number, from: number) => [award(first), ...awards(25, from)]
    for (const from of [100, 200]) {
      const { counts: found } = await rewardWallets(client, rows(0, from), { ledger, concurrency: 1 })
      expect(found).toEqual(counts({ alreadyAwarded: 1, rejected: 25 }))
    }
    const stop = await stopErrorOf(rewardWallets(client, rows(1, 300), { ledger, concurrency: 1 }))
    expect(stop.report).toMatchObject({ counts: counts({ alreadyAwarded: 1, rejected: 19 }), fromLedger: 0 })
    const again = await stopErrorOf(rewardWallets(client, rows(1, 400), { ledger, concurrency: 1 }))
    expect(again.report).toMatchObject({ counts: counts({ alreadyAwarded: 1, rejected: 20 }), fromLedger: 1 })
  })

  test('of several failures at once, the first one is the cause', async () => {
    const failures = [new Error('first'), new Error('second')]
    const slow = holdCalls({ rewardWallet: async () => Promise.reject(failures.shift()) })
    const { waiting } = slow
    const run = rewardWallets(slow, awards(2), { ledger: fileLedger(newPath()), concurrency: 2 })
    await expect.poll(() => waiting).toHaveLength(2)
    for (const resume of waiting) resume()
    expect((await stopErrorOf(run)).cause).toMatchObject({ message: 'first' })
    expect(failures).toEqual([])
  })

  test('refusals of retried awards do not end a run if the ledger has a success', async () => {
    const { client, service } = setup()
    const ledger = fileLedger(newPath())
    await rewardWallets(client, awards(1), { ledger })
    service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 0 })
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: 80 })
    const rows = awards(41)
    await rewardWallets(client, [award(1_000), ...rows], { ledger, concurrency: 1 })
    expect((await rewardWallets(client, rows, { ledger, retryRejected: true })).counts.rejected).toBe(40)
  })

  test('100 consecutive awards with an unknown outcome', async () => {
    const { client, service } = setup()
    service.fail({ on: 'rewardWallet', kind: 'status', status: 503, times: Infinity })
    const ledger = fileLedger(newPath())
    const stop = await stopErrorOf(rewardWallets(client, awards(500), { ledger, concurrency: 1 }))
    expect(stop.cause).toBeInstanceOf(ServiceError)
    expect(stop.message).toContain('100 consecutive awards ended with an unknown outcome')
    expect(stop.report.counts).toEqual(counts({ indeterminate: 100 }))
  })

  test('a client that throws an unknown error', async () => {
    const bug = new TypeError('token-secret is not a function')
    const path = newPath()
    const client = { rewardWallet: async () => Promise.reject(bug) }
    const stop = await stopErrorOf(rewardWallets(client, awards(50), { ledger: fileLedger(path), concurrency: 2 }))
    expect(stop.cause).toBe(bug)
    expect(stop.report.counts.indeterminate).toBeGreaterThan(0)
    expect(JSON.stringify(await entriesOf(path))).not.toContain('token-secret')
  })

  test('a token source that fails, before the ledger is opened', async () => {
    const { client } = setup({
      accessToken: async () => {
        throw new Error('the vault is locked')
      },
    })
    const path = newPath()
    const { cause, message } = await stopErrorOf(rewardWallets(client, awards(3), { ledger: fileLedger(path) }))
    expect(cause).toMatchObject({ code: 'access_token' })
    expect(message).toContain('the run could not start')
    await expect(entriesOf(path)).rejects.toThrow(ConfigurationError)
  })

  test('429s for as long as its patience, or a Retry-After of an hour', async () => {
    const elapsedMs = skipPauses()
    const { client, service } = setup()
    const limit = { on: 'rewardWallet', kind: 'status', status: 429, times: Infinity } as const
    service.fail({ ...limit, headers: { 'retry-after': '0' } })
    const reported: AwardProgress[] = []
    const stop = await stopErrorOf(
      rewardWallets(client, awards(3), {
        ledger: fileLedger(newPath()),
        onProgress: (each) => void reported.push(each),
      }),
    )
    expect(stop.cause).toMatchObject({ code: 'rate_limited' })
    expect(stop.message).toMatch(/the service has responded with 429 for 1[23]\d s/)
    expect(elapsedMs()).toBeLessThan(150_000)
    expect(reported.filter(({ waiting }) => waiting?.for === 'rate_limit').length).toBeGreaterThan(110)
    service.reset()
    service.fail({ ...limit, headers: { 'retry-after': '3600' } })
    const longWait = await stopErrorOf(rewardWallets(client, awards(3), { ledger: fileLedger(newPath()) }))
    expect(longWait.message).toContain('asks to wait for 60 minutes')
    expect(longWait.report.counts).toEqual(counts({}))
  })
})

describe('failures that do not end a run', () => {
  test.each([403, 404])('%i halts its campaign, and other campaigns continue', async (status) => {
    const service = createCampaignService({
      campaigns: [
        { id: 'demo', name: 'Demo' },
        { id: 'other', name: 'Other' },
      ],
      tokens: { limited: { campaigns: ['other'] }, full: {} },
    })
    const clientWith = (accessToken: string) =>
      new CampaignClient({ baseUrl: 'https://s.example/api/v1', accessToken, fetch: service.fetch, maxRetries: 0 })
    const path = newPath()
    const rows = Array.from({ length: 40 }, (_, number) => award(number, { pid: number % 2 ? 'demo' : 'other' }))
    const limited = clientWith('limited')
    const refusing = {
      async rewardWallet(row: AwardRow) {
        if (row.pid === 'demo' && status === 404) service.fail({ on: 'rewardWallet', kind: 'status', status })
        await limited.rewardWallet(row)
      },
    }
    const report = await rewardWallets(refusing, rows, {
      ledger: fileLedger(path),
      concurrency: status === 404 ? 1 : 3,
    })
    expect(report).toMatchObject({ rows: 40, complete: false, counts: counts({ awarded: 20 }) })
    expect(report.halted).toEqual([{ pid: 'demo', rows: 20, reason: expect.stringContaining(`HTTP ${status}`) }])
    expect(service.requests.filter(({ status: received }) => received === status).length).toBeLessThanOrEqual(3)

    const next = await rewardWallets(clientWith('full'), rows, { ledger: fileLedger(path) })
    expect(next).toMatchObject({ complete: true, counts: counts({ awarded: 40 }), fromLedger: 20, halted: [] })
  })

  test('a halted campaign that is refused again keeps its count of rows', async () => {
    const refused = new AccessDeniedError('no', { status: 403, headers: {}, outcome: 'not_applied' })
    const slow = holdCalls({ rewardWallet: () => Promise.reject(refused) })
    const { waiting } = slow
    const run = rewardWallets(slow, awards(10), { ledger: fileLedger(newPath()), concurrency: 2 })
    await expect.poll(() => waiting).toHaveLength(2)
    waiting[0]?.()
    // After the first refusal, only the row of the second call is unfinished.
    for (let turns = 0; turns < 500; turns++) await turn()
    waiting[1]?.()
    const report = await run
    expect(waiting).toHaveLength(2)
    expect(report.halted).toMatchObject([{ pid: 'demo', rows: 10 }])
  })

  test('a refusal after a lost response and a 429 makes the award unconfirmed', async () => {
    const { client, service } = setup({ maxRetries: 1 })
    service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
    service.fail({ on: 'rewardWallet', kind: 'status', status: 429, headers: { 'retry-after': '0' } })
    const report = await rewardWallets(client, awards(1), { ledger: fileLedger(newPath()), confirm: false })
    expect(report.counts).toEqual(counts({ unconfirmed: 1 }))
  })

  test('a refusal after a 429 alone is a rejection', async () => {
    const { client, service } = setup()
    service.fail({ on: 'rewardWallet', kind: 'status', status: 429, headers: { 'retry-after': '0' } })
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400 })
    const report = await rewardWallets(client, awards(1), { ledger: fileLedger(newPath()) })
    expect(report.counts).toEqual(counts({ rejected: 1 }))
  })
})
