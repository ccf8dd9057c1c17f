import { readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { ConfigurationError, InvalidRequestError } from 'campaign-client'
import { type AwardRow, awardOne, fileLedger, readLedger, rewardWallets } from 'campaign-client/bulk'
import { postgresLedger } from 'campaign-client/bulk/postgres'
import { Pool } from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { award, awards, counts, entriesOf, newPath, setup, stopErrorOf, verdictsOf } from './fixtures.ts'

const proxyThatThrows = new Proxy(
  {},
  {
    get() {
      throw new Error('hostile')
    },
    has() {
      throw new Error('hostile')
    },
    ownKeys() {
      throw new Error('hostile')
    },
  },
)

const WRONG: readonly (readonly [string, unknown])[] = [
  ['no address', award(1, { address: undefined as never })],
  ['an invalid address', award(1, { address: '0x12' })],
  ['an empty id', award(1, { id: '' })],
  ['a number as the id', award(1, { id: 7 as never })],
  ['a string as XP', award(1, { xp: '5' as never })],
  ['NaN as XP', award(1, { xp: Number.NaN })],
  ['infinite XP', award(1, { xp: Infinity })],
  ['0 XP', award(1, { xp: 0 })],
  ['negative XP', award(1, { xp: -5 })],
  ['null', null],
  ['a string', 'award'],
  ['an array', []],
  ['a promise', Promise.resolve(award(1))],
]

describe('an invalid row', () => {
  test.each(WRONG)('is counted as rejected, and the other rows are sent: %s', async (_, wrong) => {
    const { client, service } = setup()
    const path = newPath()
    const report = await rewardWallets(client, [award(10), wrong as AwardRow, award(11)], { ledger: fileLedger(path) })
    expect(report.counts).toEqual(counts({ awarded: 2, rejected: 1 }))
    expect(report.problems).toMatchObject([{ index: 1, verdict: 'rejected', reason: expect.stringMatching(/./) }])
    expect(report.complete).toBe(true)
    expect(service.requests).toHaveLength(2)
    expect(await entriesOf(path)).toHaveLength(2)
  })

  test('is reported with its reasons, and with the fields that have the right type', async () => {
    const rows = [
      award(1, { address: '0x12', xp: Number.NaN }),
      award(2, { id: 7 as never }),
      award(3, { xp: -3 }),
      null as never,
    ]
    const report = await rewardWallets(setup().client, rows, { ledger: fileLedger(newPath()), concurrency: 1 })
    // Negative XP does not lower the sum.
    expect(report.xp.rejected).toBe(award(2).xp)
    const { address, pid, xp } = award(2)
    const rejected = (reason: RegExp) => ({
      verdict: 'rejected',
      code: 'invalid_request',
      reason: expect.stringMatching(reason),
    })
    expect(report.problems).toEqual([
      { index: 0, id: 'award-1', address: '0x12', pid: 'demo', ...rejected(/^address .+; xp /) },
      { index: 1, address, pid, xp, ...rejected(/^id /) },
      { index: 2, ...award(3, { xp: -3 }), ...rejected(/^xp must be above 0$/) },
      { index: 3, ...rejected(/^the row /) },
    ])
  })

  test('binds nothing: a client of another service can use the ledger', async () => {
    const ledger = fileLedger(newPath())
    const rows = [award(1, { address: '0x12' }), award(2, { xp: 0 })]
    expect((await rewardWallets(setup().client, rows, { ledger })).counts.rejected).toBe(2)
    const { client } = setup({ baseUrl: 'https://other.example/api/v1' })
    expect((await rewardWallets(client, awards(2), { ledger })).counts.awarded).toBe(2)
  })

  test('does not reserve its id if the guard of the client refuses the row', async () => {
    const { client } = setup()
    const guarded = {
      async rewardWallet(row: AwardRow) {
        if (row.xp > 100) {
          const issues = [{ path: ['xp'], message: 'is above 100, which the guard allows' }]
          throw new InvalidRequestError('rewardWallet: xp is above 100', { issues, outcome: 'not_applied' })
        }
        await client.rewardWallet(row)
      },
    }
    const path = newPath()
    const rows = [award(1), award(2, { xp: 500 })]
    const report = await rewardWallets(guarded, rows, { ledger: fileLedger(path) })
    expect(report).toMatchObject({ counts: counts({ awarded: 1, rejected: 1 }), complete: true })
    expect(report.problems).toMatchObject([
      { index: 1, id: 'award-2', reason: 'xp is above 100, which the guard allows' },
    ])
    expect(await entriesOf(path)).toHaveLength(1)
    expect((await rewardWallets(guarded, [award(2, { xp: 50 })], { ledger: fileLedger(path) })).counts.awarded).toBe(1)
  })

  test('keeps the verdict of an earlier attempt if the guard of the client refuses the retry', async () => {
    const { client, service } = setup()
    const path = newPath()
    service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400 })
    await rewardWallets(client, awards(2), { ledger: fileLedger(path), concurrency: 1 })
    const before = await verdictsOf(path)
    const refusing = {
      async rewardWallet() {
        throw new InvalidRequestError('rewardWallet: forbidden', { issues: [], outcome: 'not_applied' })
      },
    }
    const report = await rewardWallets(refusing, awards(2), {
      ledger: fileLedger(path),
      retryRejected: true,
      concurrency: 1,
    })
    expect(report).toMatchObject({ counts: counts({ indeterminate: 1, rejected: 1 }), fromLedger: 1, complete: false })
    expect(report.problems.map(({ code }) => code)).toEqual(['network', 'bad_request'])
    expect(await verdictsOf(path)).toEqual(before)
  })
})

describe('a row', () => {
  test('is read once: a getter cannot change it later', async () => {
    const { client, service } = setup()
    let reads = 0
    const changingRow = {
      address: award(1).address,
      pid: 'demo',
      id: 'changing',
      get xp() {
        return ++reads
      },
    }
    await rewardWallets(client, [changingRow], { ledger: fileLedger(newPath()) })
    expect(service.state.awards).toMatchObject([{ xp: 1 }])
  })

  test('may be an object that the list uses for all rows', async () => {
    const { client, service } = setup()
    const shared = award(0)
    function* rows() {
      for (let number = 0; number < 50; number++) yield Object.assign(shared, award(number))
    }
    async function* later() {
      yield* rows()
    }
    expect((await rewardWallets(client, rows(), { ledger: fileLedger(newPath()) })).counts.awarded).toBe(50)
    service.reset()
    expect((await rewardWallets(client, later(), { ledger: fileLedger(newPath()) })).counts.awarded).toBe(50)
    expect(service.state.awards).toHaveLength(50)
  })

  test('is copied: changes by the client or confirm have no effect', async () => {
    const { client, service } = setup()
    const path = newPath()
    const changeRow = (row: AwardRow) => void Object.assign(row, award(99))
    const changingClient = {
      async rewardWallet(row: AwardRow) {
        await client.rewardWallet(row).finally(() => changeRow(row))
      },
    }
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400 })
    const confirm = (row: AwardRow) => {
      changeRow(row)
      return true
    }
    await rewardWallets(changingClient, awards(2), { ledger: fileLedger(path), confirm, concurrency: 1 })
    expect((await entriesOf(path)).map(({ id }) => id).sort()).toEqual(['award-0', 'award-1'])
  })

  test('that is invalid is omitted from the report after 1 000 problems', async () => {
    const { client } = setup()
    const rows = Array.from({ length: 3_000 }, () => ({}) as AwardRow)
    const report = await rewardWallets(client, rows, { ledger: fileLedger(newPath()) })
    expect(report).toMatchObject({ problemsOmitted: 2_000, counts: counts({ rejected: 3_000 }) })
    expect(report.problems).toHaveLength(1_000)
  })
})

describe('a row that contradicts an earlier one', () => {
  test.each([
    ['xp', { xp: 99 }, /xp is 99, but the award with the id "award-0" has 1; it was not sent/],
    ['pid', { pid: 'other' }, /pid is "other", but the award with the id "award-0" has "demo"; it was not sent/],
    ['address', { address: award(7).address }, /address is "0x.*8", but the award with the id/],
  ])('with another %s stops the run before the row is sent', async (_, changes, words) => {
    const { client, service } = setup()
    const path = newPath()
    const rows = [award(0), award(1), award(0, changes), ...awards(500, 2)]
    const { cause, report } = await stopErrorOf(
      rewardWallets(client, rows, { ledger: fileLedger(path), concurrency: 1 }),
    )
    expect(cause).toBeInstanceOf(InvalidRequestError)
    expect((cause as Error).message).toMatch(words)
    expect((cause as InvalidRequestError).issues).toMatchObject([{ path: ['rows', 2, Object.keys(changes)[0]] }])
    expect(report.counts.awarded).toBeLessThan(10)
    expect(service.state.awards).toContainEqual(expect.objectContaining({ id: 'award-0', xp: 1, pid: 'demo' }))
    // The next run finds the conflict in the ledger.
    const next = await stopErrorOf(rewardWallets(client, [award(0, changes)], { ledger: fileLedger(path) }))
    expect((next.cause as Error).message).toMatch(words)
    expect(next.report.rows).toBe(1)
  })
})

test('each option is read once', async () => {
  const { client } = setup()
  const reads: string[] = []
  const options = new Proxy(
    { ledger: fileLedger(newPath()), concurrency: 2, retryRejected: false },
    {
      get(target, name, receiver) {
        reads.push(String(name))
        return Reflect.get(target, name, receiver)
      },
    },
  )
  await rewardWallets(client, awards(5), options)
  expect(reads).toHaveLength(new Set(reads).size)
})

describe('strict', () => {
  test('reads all rows first, and sends nothing if a row is invalid', async () => {
    const { client, sent } = setup()
    const path = newPath()
    await rewardWallets(client, [award(900)], { ledger: fileLedger(path) })
    const rows = [award(0), award(1, { xp: Number.NaN }), award(0, { xp: 5 }), award(900, { xp: 1 }), award(0)]
    const { cause, report, message } = await stopErrorOf(
      rewardWallets(client, rows, { ledger: fileLedger(path), strict: true }),
    )
    expect(sent()).toBe(1)
    expect(cause).toBeInstanceOf(InvalidRequestError)
    expect((cause as InvalidRequestError).issues.map(({ path: at }) => at.join('.'))).toEqual([
      'rows.1.xp',
      'rows.2.xp',
      'rows.3.xp',
    ])
    expect(message).toContain('nothing was sent. Correct the rows, then run it again')
    expect(report).toMatchObject({ rows: 5, counts: counts({ rejected: 3 }), complete: false })
    expect(report.problems.map(({ index }) => index)).toEqual([1, 2, 3])
    expect(await entriesOf(path)).toHaveLength(1)
  })

  test('sends a valid list, and a duplicate row once', async () => {
    const { client } = setup()
    async function* rows() {
      yield* awards(5)
      yield award(0)
    }
    const report = await rewardWallets(client, rows(), { ledger: fileLedger(newPath()), strict: true })
    expect(report).toMatchObject({ rows: 6, counts: counts({ awarded: 5, duplicate: 1 }), complete: true })
  })

  test('stops if the list throws an error', async () => {
    const { client, sent } = setup()
    const failure = new Error('line 3 of the file is not CSV')
    function* rows() {
      yield* awards(2)
      throw failure
    }
    const stop = await stopErrorOf(rewardWallets(client, rows(), { ledger: fileLedger(newPath()), strict: true }))
    expect(stop.cause).toBe(failure)
    expect(stop.message).toContain('the rows could not be checked: line 3')
    expect(sent()).toBe(0)
  })

  test('does not block the event loop while it reads a synchronous list', async () => {
    const { client } = setup()
    const MAX_ROWS = 200_000
    const controller = new AbortController()
    const { signal } = controller
    function* rows() {
      void turn().then(() => controller.abort())
      for (let number = 0; number < MAX_ROWS; number++) yield award(number)
    }
    const stop = await stopErrorOf(
      rewardWallets(client, rows(), { ledger: fileLedger(newPath()), strict: true, signal }),
    )
    expect(stop.report.rows).toBeLessThan(MAX_ROWS)
  })
})

describe('a list', () => {
  test.each([
    ['undefined', undefined],
    ['a number', 5],
    ['an object', {}],
    ['a string', 'abc'],
    ['null', null],
  ])('that is %s is refused', async (_, rows) => {
    const { client } = setup()
    const path = newPath()
    const run = rewardWallets(client, rows as never, { ledger: fileLedger(path) })
    await expect(run).rejects.toThrow(InvalidRequestError)
    await expect(run).rejects.toThrow(/^rewardWallets: rows must be an iterable or an async iterable/)
    await expect(entriesOf(path)).rejects.toThrow('does not exist')
  })

  test('whose iterator method returns no iterator stops the run', async () => {
    const { client } = setup()
    const rows = { [Symbol.iterator]: () => 5 } as never
    const stop = await stopErrorOf(rewardWallets(client, rows, { ledger: fileLedger(newPath()) }))
    expect(stop.cause).toBeInstanceOf(TypeError)
  })

  test.each([Symbol.iterator, Symbol.asyncIterator])('that throws in %s stops the run', async (name) => {
    const { client } = setup()
    const failure = new Error('the file is not there')
    const rows = {
      [name]() {
        throw failure
      },
    } as never
    const stop = await stopErrorOf(rewardWallets(client, rows, { ledger: fileLedger(newPath()) }))
    expect(stop.cause).toBe(failure)
    expect(stop.message).toContain('the list of awards threw an error: the file is not there')
  })

  test.each(['an iterator', 'an async iterator'])(
    '%s that throws stops the run after the calls in flight',
    async (kind) => {
      const { client, service } = setup()
      const path = newPath()
      const failure = new Error('line 25 of the file is not CSV')
      function* some() {
        yield* awards(24)
        throw failure
      }
      async function* later() {
        yield* some()
      }
      service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 30, times: 24 })
      const rows = kind === 'an iterator' ? some() : later()
      const stop = await stopErrorOf(rewardWallets(client, rows, { ledger: fileLedger(path) }))
      expect(stop.cause).toBe(failure)
      expect(stop.message).toContain('the list of awards threw an error: line 25')
      expect(stop.report).toMatchObject({ rows: 24, complete: false })
      const { awarded } = stop.report.counts
      expect(service.state.awards).toHaveLength(awarded)
      expect((await entriesOf(path)).filter(({ verdict }) => verdict === 'awarded')).toHaveLength(awarded)
      expect((await rewardWallets(client, awards(24), { ledger: fileLedger(path) })).counts.awarded).toBe(24)
    },
  )

  test.each([
    ['a number', () => 5],
    ['a result whose properties throw', () => proxyThatThrows],
    ['a promise that rejects', () => Promise.reject(new Error('late'))],
  ])('an iterator whose next() returns %s stops the run', async (_, next) => {
    const { client } = setup()
    const rows = { [Symbol.iterator]: () => ({ next }) } as never
    const stop = await stopErrorOf(rewardWallets(client, rows, { ledger: fileLedger(newPath()) }))
    expect(stop.report.rows).toBe(0)
  })

  test('an iterator whose next() never resolves does not delay an abort', async () => {
    const { client } = setup()
    const controller = new AbortController()
    const next = vi.fn(() => new Promise<never>(() => undefined))
    const rows = { [Symbol.asyncIterator]: () => ({ next, return: vi.fn() }) }
    const run = rewardWallets(client, rows, { ledger: fileLedger(newPath()), signal: controller.signal })
    await expect.poll(() => next).toHaveBeenCalled()
    controller.abort()
    expect((await stopErrorOf(run)).report.rows).toBe(0)
  })

  test('an endless list can clean up after a stop', async () => {
    const { client, service } = setup()
    const cleaned = vi.fn()
    async function* rows() {
      try {
        for (let number = 0; ; number++) yield award(number)
      } finally {
        cleaned()
      }
    }
    service.fail({ on: 'rewardWallet', kind: 'status', status: 401 })
    await stopErrorOf(rewardWallets(client, rows(), { ledger: fileLedger(newPath()) }))
    expect(cleaned).toHaveBeenCalledOnce()
  })

  test.each([
    ['that has ended', () => ({ done: true, value: undefined })],
    [
      'that threw an error',
      () => {
        throw new Error('the file is not there')
      },
    ],
  ])('an iterator %s is not closed', async (_, next) => {
    const end = vi.fn()
    const rows = { [Symbol.iterator]: () => ({ next, return: end }) }
    await rewardWallets(setup().client, rows as never, { ledger: fileLedger(newPath()) }).catch(() => undefined)
    expect(end).not.toHaveBeenCalled()
  })

  test.each([false, true])('a run that is aborted waits until the list has cleaned up: strict %s', async (strict) => {
    const controller = new AbortController()
    let number = 0
    let finishCleanUp: (() => void) | undefined
    const rows = {
      [Symbol.iterator]: () => ({
        next() {
          if (number === 10) void turn().then(() => controller.abort())
          return { done: false, value: award(number++) }
        },
        return: () =>
          new Promise<void>((resolve) => {
            finishCleanUp = resolve
          }),
      }),
    } as unknown as Iterable<AwardRow>
    const { signal } = controller
    let isEnded = false
    const stop = stopErrorOf(rewardWallets(setup().client, rows, { ledger: fileLedger(newPath()), signal, strict }))
    void stop.finally(() => {
      isEnded = true
    })
    await expect.poll(() => finishCleanUp).toBeDefined()
    for (let turns = 0; turns < 100; turns++) await turn()
    expect(isEnded).toBe(false)
    finishCleanUp?.()
    await stop
  })

  test('is read one row at a time, and only as fast as awards are sent', async () => {
    const { client, service } = setup()
    let reads = 0
    let open = 0
    let maxOpen = 0
    const rows = {
      [Symbol.asyncIterator]: () => ({
        async next() {
          reads++
          maxOpen = Math.max(maxOpen, ++open)
          await undefined
          open--
          return reads > 100 ? { done: true as const, value: undefined } : { done: false as const, value: award(reads) }
        },
      }),
    }
    const readAhead: number[] = []
    const counting = {
      async rewardWallet(row: AwardRow) {
        readAhead.push(reads - service.state.awards.length)
        await client.rewardWallet(row)
      },
    }
    const report = await rewardWallets(counting, rows, { ledger: fileLedger(newPath()), concurrency: 4 })
    expect(report.counts.awarded).toBe(100)
    expect(maxOpen).toBe(1)
    expect(Math.max(...readAhead)).toBeLessThanOrEqual(4 * 2 + 1)
  })
})

describe('an invalid argument is refused', () => {
  const { client } = setup()
  test.each([
    ['no options', undefined, /options must be an object/],
    ['a missing ledger', {}, /ledger must be a ledger, such as fileLedger\('awards\.ledger'\), got undefined/],
    ['a path as the ledger', { ledger: 'awards.ledger' }, /ledger must be a ledger/],
    ['a concurrency of 0', { ledger: fileLedger('x'), concurrency: 0 }, /concurrency must be a whole number/],
    ['a signal of another type', { ledger: fileLedger('x'), signal: {} }, /signal must be an AbortSignal/],
    ['a string as a boolean', { ledger: fileLedger('x'), strict: 'yes' }, /strict must be true or false/],
    ['a boolean as a function', { ledger: fileLedger('x'), confirm: true }, /confirm must be a function/],
  ])('%s', async (_, options, words) => {
    const run = rewardWallets(client, [], options as never)
    await expect(run).rejects.toThrow(ConfigurationError)
    await expect(run).rejects.toThrow(words)
  })

  test.each([
    ['no options', null, /options must be an object/],
    ['a ledger of another type', { ledger: 'x.ledger' }, /ledger must be a ledger, such as fileLedger.*, got string/],
    ['a number as a boolean', { mayBeSent: 0 }, /mayBeSent must be true or false/],
    ['true as confirm', { confirm: true }, /confirm must be a function or false, got true/],
    ['a string as a boolean', { retryRejected: 'yes' }, /retryRejected must be true or false/],
    ['a boolean as a function', { isUsedId: true }, /isUsedId must be a function/],
  ])('by awardOne: %s', async (_, options, words) => {
    const made = awardOne(client, award(1), options as never)
    await expect(made).rejects.toThrow(ConfigurationError)
    await expect(made).rejects.toThrow(/^awardOne: /)
    await expect(made).rejects.toThrow(words)
  })

  test('a missing client of awardOne', async () => {
    const made = awardOne({} as never, award(1), { ledger: postgresLedger(new Pool(), { run: 'x' }) })
    await expect(made).rejects.toThrow(/client must have the method rewardWallet, got object/)
  })

  test('a missing client', async () => {
    const run = rewardWallets(undefined as never, [], { ledger: fileLedger('x') })
    await expect(run).rejects.toThrow(/client must have the method rewardWallet, got undefined/)
  })

  test.each([undefined, 5])('a ledger without a path: %j', (path) => {
    for (const open of [fileLedger, readLedger]) {
      expect(() => open(path as never)).toThrow(ConfigurationError)
      expect(() => open(path as never)).toThrow(`${open.name}: path must be a string, got ${typeof path}`)
    }
  })

  test.each([
    ['', /run must be a non-empty string/],
    ['x'.repeat(501), /run must have at most 500 characters, got 501/],
    ['a\u0000b', /run must not contain U\+0000/],
  ])('an invalid run name: %#', (run, words) => {
    expect(() => fileLedger('x', { run })).toThrow(words)
  })
})

test('the report of an empty list is complete', async () => {
  const { client } = setup()
  const report = await rewardWallets(client, [], { ledger: fileLedger(newPath()) })
  expect(report).toMatchObject({ rows: 0, complete: true })
})

describe('the guard of the client', () => {
  const guard = { campaigns: ['demo'], maxXpPerAward: 100 }
  const rows = [award(1), award(2, { xp: 500 }), award(3, { pid: 'other' })]

  test('refuses a row before its intent is written', async () => {
    const { client, sent } = setup({ guard })
    const path = newPath()
    const report = await rewardWallets(client, rows, { ledger: fileLedger(path) })
    expect(report).toMatchObject({ counts: counts({ awarded: 1, rejected: 2 }), complete: true })
    expect(report.problems).toMatchObject([
      { index: 1, id: 'award-2', reason: expect.stringContaining('the maxXpPerAward of the guard') },
      { index: 2, id: 'award-3', reason: expect.stringContaining('is not a campaign of the guard') },
    ])
    expect(readFileSync(path, 'utf8')).not.toMatch(/award-[23]/)
    expect(sent()).toBe(1)
  })

  test('makes a strict run send nothing', async () => {
    const { client, sent } = setup({ guard })
    const stop = await stopErrorOf(rewardWallets(client, rows, { ledger: fileLedger(newPath()), strict: true }))
    expect(stop.message).toContain('nothing was sent. Correct the rows')
    expect(stop.report.counts.rejected).toBe(2)
    expect(sent()).toBe(0)
  })

  test('can be set on a derived client, which can use the ledger of its parent', async () => {
    const { client } = setup()
    const ledger = fileLedger(newPath())
    await rewardWallets(client, awards(1), { ledger })
    const report = await rewardWallets(client.with({ guard }), rows, { ledger })
    expect(report.counts).toEqual(counts({ awarded: 1, rejected: 2 }))
  })
})
