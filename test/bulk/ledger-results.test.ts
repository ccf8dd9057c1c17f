import { type AwardLedger, fileLedger, rewardWallets } from 'campaign-client/bulk'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type AwardClaim, LEDGER, type LedgerSession } from '../../src/bulk/ledger/ledger.ts'
import { award, awards, counts, newPath, sessionWith, setup, stopErrorOf } from './fixtures.ts'

/** Returns a ledger in a file. `methodsOf` replaces methods of its session. */
function ledgerWith(methodsOf: (session: LedgerSession) => Partial<LedgerSession>): AwardLedger {
  const ledger = fileLedger(newPath())
  return {
    ...ledger,
    [LEDGER]: {
      ...ledger[LEDGER],
      async open(target) {
        const session = await ledger[LEDGER].open(target)
        return sessionWith(session, methodsOf(session))
      },
    },
  }
}

test('a row that another process holds is claimed again soon, even if its lease is long', async () => {
  const { client, sent } = setup()
  let claims = 0
  const ledger = ledgerWith((session) => ({
    async claim(row, retryable) {
      return ++claims === 1 ? { state: 'busy', retryMs: 60_000 } : session.claim(row, retryable)
    },
  }))
  const report = await rewardWallets(client, awards(1), { ledger })
  expect(report).toMatchObject({ counts: counts({ awarded: 1 }), complete: true })
  expect(claims).toBe(2)
  expect(sent()).toBe(1)
})

test('a run reports the verdict of another process that has taken over the award', async () => {
  const { client } = setup()
  const claims: AwardClaim['state'][] = []
  const ledger = ledgerWith((session) => ({
    async claim(row, retryable) {
      const claim =
        claims.length > 0
          ? ({ state: 'done', verdict: 'alreadyAwarded' } as const)
          : await session.claim(row, retryable)
      claims.push(claim.state)
      return claim
    },
    complete: async () => 'busy',
  }))
  const report = await rewardWallets(client, awards(1), { ledger })
  expect(report).toMatchObject({ counts: counts({ alreadyAwarded: 1 }), fromLedger: 1, complete: true })
  expect(claims).toEqual(['claimed', 'done'])
})

test.each(['claim', 'lookUp'] as const)(
  'a ledger that fails in %s stops the run before the row is sent',
  async (name) => {
    const { client, service, sent } = setup()
    service.fail({ on: 'rewardWallet', kind: 'status', status: 403 })
    const failure = new Error('the disk is gone')
    const method = vi.fn(async () => Promise.reject(failure))
    const ledger = ledgerWith(() => ({ [name]: method }))
    const stop = await stopErrorOf(rewardWallets(client, awards(50), { ledger, concurrency: 1 }))
    expect(stop.cause).toBe(failure)
    expect(stop.message).toContain('the ledger failed: the disk is gone')
    expect(stop.report).toMatchObject({ counts: counts({}), complete: false })
    expect(sent()).toBe(name === 'claim' ? 0 : 1)
  },
)

test('a ledger that fails to record an outcome stops the run, and the award is indeterminate', async () => {
  const { client, sent } = setup()
  const failure = new Error('the disk is gone')
  const ledger = ledgerWith(() => ({ complete: () => Promise.reject(failure) }))
  const stop = await stopErrorOf(rewardWallets(client, awards(50), { ledger, concurrency: 1 }))
  expect(stop.cause).toBe(failure)
  expect(stop.message).toContain('the ledger failed: the disk is gone')
  expect(stop.report.counts).toEqual(counts({ indeterminate: sent() }))
  const reason = 'the ledger failed before it recorded the outcome'
  expect(stop.report.problems[0]).toEqual({
    index: 0,
    ...award(0),
    verdict: 'indeterminate',
    code: 'ledger_failed',
    reason,
  })
})

test('an abort while the ledger is opened ends the run before it reads the list', async () => {
  const { client, sent } = setup()
  const controller = new AbortController()
  const ledger = ledgerWith(() => {
    controller.abort()
    return {}
  })
  const next = vi.fn(() => ({ done: true, value: undefined }))
  const rows = { [Symbol.iterator]: () => ({ next }) } as Iterable<never>
  const stop = await stopErrorOf(rewardWallets(client, rows, { ledger, signal: controller.signal }))
  expect(stop.cause).toBe(controller.signal.reason)
  expect(next).not.toHaveBeenCalled()
  expect(sent()).toBe(0)
})

test('a ledger that fails at the end stops the run with the report, and leaves no timer behind', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { client } = setup()
  const failure = new Error('the disk is gone')
  const ledger = ledgerWith((session) => ({
    async close() {
      await session.close()
      throw failure
    },
  }))
  const stop = await stopErrorOf(rewardWallets(client, awards(2), { ledger }))
  expect(stop.cause).toBe(failure)
  expect(stop.message).toContain('the ledger failed: the disk is gone')
  expect(stop.report).toMatchObject({ counts: counts({ awarded: 2 }), complete: false })
  expect(vi.getTimerCount()).toBe(0)
})

test('a strict run lets its list clean up when the ledger fails', async () => {
  const failure = new Error('the disk is gone')
  const ledger = ledgerWith(() => ({ findConflict: () => Promise.reject(failure) }))
  const end = vi.fn(() => ({ done: true, value: undefined }))
  const rows = { [Symbol.iterator]: () => ({ next: () => ({ done: false, value: award(0) }), return: end }) }
  const stop = await stopErrorOf(rewardWallets(setup().client, rows as never, { ledger, strict: true }))
  expect(stop.cause).toBe(failure)
  expect(end).toHaveBeenCalledTimes(1)
})
