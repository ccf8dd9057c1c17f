import * as bulk from 'campaign-client/bulk'
import { type AwardRow, type Confirmation, fileLedger, type Verdict } from 'campaign-client/bulk'
import { describe, expect, test, vi } from 'vitest'
import { RunReport } from '../../src/bulk/report.ts'
import { award, awards, counts, entriesOf, newPath, setup, verdictsOf } from './fixtures.ts'

/** Makes a run without `confirm`, unless the test gives one. */
const rewardWallets: typeof bulk.rewardWallets = (client, rows, options) =>
  bulk.rewardWallets(client, rows, { confirm: false, ...options })

describe('the verdict of one award', () => {
  test('200 is awarded, and the award is not sent again', async () => {
    const { client, service, sent } = setup()
    const path = newPath()
    const report = await rewardWallets(client, awards(3), { ledger: fileLedger(path) })
    expect(report).toMatchObject({ version: 1, rows: 3, complete: true, fromLedger: 0, problems: [], halted: [] })
    expect(report.counts).toEqual(counts({ awarded: 3 }))
    expect(report.xp).toEqual(counts({ awarded: 6 }))
    expect(Date.parse(report.finishedAt)).toBeGreaterThanOrEqual(Date.parse(report.startedAt))
    expect(service.state.awards.map(({ id, xp }) => [id, xp]).sort()).toEqual([
      ['award-0', 1],
      ['award-1', 2],
      ['award-2', 3],
    ])

    const again = await rewardWallets(client, awards(3), { ledger: fileLedger(path) })
    expect(again).toMatchObject({ rows: 3, fromLedger: 3, complete: true, counts: counts({ awarded: 3 }) })
    expect(sent()).toBe(3)
    expect(await verdictsOf(path)).toEqual({ 'award-0': 'awarded', 'award-1': 'awarded', 'award-2': 'awarded' })
  })

  test.each([400, 409, 422])(
    '%i without an earlier attempt is rejected with its reason, and the award is not sent again',
    async (status) => {
      const { client, service, sent } = setup()
      const path = newPath()
      service.fail({ on: 'rewardWallet', kind: 'status', status })
      const report = await rewardWallets(client, awards(1), { ledger: fileLedger(path) })
      expect(report).toMatchObject({ counts: counts({ rejected: 1 }), xp: counts({ rejected: 1 }), complete: true })
      expect(report.problems).toEqual([
        {
          index: 0,
          ...award(0),
          verdict: 'rejected',
          code: status === 400 ? 'bad_request' : 'api_error',
          reason: expect.stringContaining(`HTTP ${status}`),
        },
      ])
      const again = await rewardWallets(client, awards(1), { ledger: fileLedger(path) })
      // The second report has code and reason from the ledger.
      expect(again.problems).toEqual(report.problems)
      expect(again).toMatchObject({ counts: counts({ rejected: 1 }), fromLedger: 1 })
      expect(sent()).toBe(1)
    },
  )

  test('retryRejected sends rejected awards again', async () => {
    const { client, service } = setup()
    const ledger = fileLedger(newPath())
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400 })
    await rewardWallets(client, awards(2), { ledger, concurrency: 1 })
    const report = await rewardWallets(client, awards(2), { ledger, retryRejected: true })
    expect(report).toMatchObject({ counts: counts({ awarded: 2 }), fromLedger: 1 })
    expect(service.state.awards).toHaveLength(2)
  })
})

describe('evidence', () => {
  /** Makes the award without a ledger. */
  const withUsedId = async () => {
    const { client, sent } = setup()
    await client.rewardWallet(award(0))
    return { client, sent, path: newPath() }
  }

  /** Makes a run in which every response is lost. */
  const withLostResponses = async (rows: readonly AwardRow[] = awards(1)) => {
    const { client, service, sent } = setup()
    const path = newPath()
    service.fail({ on: 'rewardWallet', kind: 'applied_then_reset', times: rows.length })
    await rewardWallets(client, rows, { ledger: fileLedger(path) })
    return { client, service, sent, path, ledger: fileLedger(path), rows }
  }

  test.each<[returned: unknown, after: string, verdict: Verdict, code?: string]>([
    [true, 'an unknown outcome', 'alreadyAwarded'],
    [true, 'no attempt', 'alreadyAwarded', 'used_before'],
    [{ xp: 1 }, 'an unknown outcome', 'alreadyAwarded'],
    [{ xp: 1 }, 'no attempt', 'alreadyAwarded', 'used_before'],
    [{ xp: 5 }, 'an unknown outcome', 'rejected', 'other_amount'],
    [{ xp: 5 }, 'no attempt', 'rejected', 'other_amount'],
    [false, 'an unknown outcome', 'rejected', 'not_confirmed'],
    [false, 'no attempt', 'rejected', 'not_confirmed'],
    [{ xp: Number.NaN }, 'an unknown outcome', 'indeterminate', 'evidence_failed'],
    [undefined, 'an unknown outcome', 'unconfirmed', 'bad_request'],
    [undefined, 'no attempt', 'rejected', 'bad_request'],
    ['yes', 'an unknown outcome', 'indeterminate', 'evidence_failed'],
    [{ xp: '1' }, 'no attempt', 'indeterminate', 'evidence_failed'],
    [null, 'no attempt', 'indeterminate', 'evidence_failed'],
  ])('confirm returns %j after %s: %s %s', async (returned, after, verdict, code) => {
    const { client, path } = after === 'no attempt' ? await withUsedId() : await withLostResponses()
    const confirm = vi.fn(async () => returned as Confirmation)
    const report = await rewardWallets(client, awards(1), { ledger: fileLedger(path), confirm })
    expect(report.counts).toEqual(counts({ [verdict]: 1 }))
    expect(confirm.mock.calls).toEqual([[award(0)]])
    // The report and the ledger agree.
    expect(await entriesOf(path)).toMatchObject([{ verdict }])
    expect((await entriesOf(path))[0]?.error?.code).toBe(code)
    const isUsedBefore = code === 'used_before'
    expect(report.usedBefore).toEqual(isUsedBefore ? { awards: 1, xp: 1 } : { awards: 0, xp: 0 })
    if (!isUsedBefore) expect(report.problems[0]?.code).toBe(code)
    if (code === 'evidence_failed') {
      expect(report.problems[0]?.reason).toContain('confirm must return true, { xp }, false or undefined, got ')
    }
  })

  test.each<[returned: boolean | undefined, after: string, verdict: Verdict, code?: string]>([
    [true, 'an unknown outcome', 'alreadyAwarded'],
    [true, 'no attempt', 'rejected', 'id_used'],
    [false, 'an unknown outcome', 'rejected', 'bad_request'],
    [false, 'no attempt', 'rejected', 'bad_request'],
    [undefined, 'an unknown outcome', 'unconfirmed', 'bad_request'],
    [undefined, 'no attempt', 'rejected', 'bad_request'],
  ])('isUsedId returns %j after %s: %s %s', async (returned, after, verdict, code) => {
    const { client, path } = after === 'no attempt' ? await withUsedId() : await withLostResponses()
    const isUsedId = vi.fn(() => returned)
    const report = await rewardWallets(client, awards(1), { ledger: fileLedger(path), isUsedId })
    expect(report.counts).toEqual(counts({ [verdict]: 1 }))
    expect(report.problems[0]?.code).toBe(code)
    expect(isUsedId).toHaveBeenCalledWith(expect.objectContaining({ code: 'bad_request', status: 400 }))
    if (verdict === 'rejected') expect((await entriesOf(path))[0]?.error?.code).toBe(code)
  })

  test('isUsedId cannot reject an award in doubt by a response that does not show the reason of the service', async () => {
    const { client, service, ledger, rows } = await withLostResponses()
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, body: '<html>Bad gateway</html>' })
    const report = await rewardWallets(client, rows, { ledger, isUsedId: () => false })
    expect(report.counts).toEqual(counts({ unconfirmed: 1 }))
  })

  test('an id that was used before is told in every run of the ledger', async () => {
    const { client, path } = await withUsedId()
    const ledger = fileLedger(path)
    for (const fromLedger of [0, 1]) {
      const report = await bulk.rewardWallets(client, awards(1), { ledger })
      const sums = { counts: counts({ alreadyAwarded: 1 }), xp: counts({ alreadyAwarded: 1 }) }
      expect(report).toMatchObject({ ...sums, usedBefore: { awards: 1, xp: 1 }, fromLedger, complete: true })
    }
  })

  test('confirm with another amount overrides isUsedId, and the reason has both amounts', async () => {
    const { client, path } = await withLostResponses([award(0, { xp: 500 })])
    const evidence = { isUsedId: () => true, confirm: () => ({ xp: 5 }) }
    const rows = [award(0, { xp: 500 })]
    const report = await rewardWallets(client, rows, { ledger: fileLedger(path), ...evidence })
    expect(report).toMatchObject({ counts: counts({ rejected: 1 }), xp: counts({ rejected: 500 }) })
    expect(report.problems[0]?.reason).toMatch(/5 XP.*500 XP/)
  })

  test('retryRejected does not resend an id that was used with another amount', async () => {
    const { client, path, sent } = await withLostResponses()
    const ledger = fileLedger(path)
    await rewardWallets(client, awards(1), { ledger, confirm: () => ({ xp: 7 }) })
    const before = sent()
    const report = await rewardWallets(client, awards(1), { ledger, retryRejected: true })
    expect(report.problems).toMatchObject([{ verdict: 'rejected', code: 'other_amount' }])
    expect(sent()).toBe(before)
  })

  test('a retry that is refused for another reason records that reason', async () => {
    const { client, path, sent } = await withUsedId()
    const ledger = fileLedger(path)
    await rewardWallets(client, awards(1), { ledger })
    await rewardWallets(client, awards(1), { ledger, retryRejected: true, confirm: () => ({ xp: 7 }) })
    expect((await entriesOf(path))[0]?.error?.code).toBe('other_amount')
    const before = sent()
    await rewardWallets(client, awards(1), { ledger, retryRejected: true })
    expect(sent()).toBe(before)
  })

  test('a later run confirms an unconfirmed award without sending it', async () => {
    const { client, sent, ledger, rows } = await withLostResponses(awards(2))
    await rewardWallets(client, rows, { ledger })
    const before = sent()
    const confirm = ({ id }: AwardRow) => id === 'award-0'
    const report = await rewardWallets(client, rows, { ledger, confirm })
    expect(report.counts).toEqual(counts({ alreadyAwarded: 1, rejected: 1 }))
    expect(report.problems).toMatchObject([{ code: 'not_confirmed' }])
    expect(sent()).toBe(before)
    expect((await rewardWallets(client, rows, { ledger })).counts).toEqual(counts({ alreadyAwarded: 1, rejected: 1 }))
  })

  test('a confirm that throws leaves the award unconfirmed, and its error is not recorded', async () => {
    const { client, ledger, rows, path, sent } = await withLostResponses()
    await rewardWallets(client, rows, { ledger })
    const before = sent()
    const confirm = () => Promise.reject(new Error('the lookup of secret-123 failed'))
    const report = await rewardWallets(client, rows, { ledger, confirm })
    expect(report.problems).toMatchObject([
      { verdict: 'unconfirmed', code: 'evidence_failed', reason: 'confirm threw: Error' },
    ])
    expect(JSON.stringify([report, await entriesOf(path)])).not.toContain('secret-123')
    expect(sent()).toBe(before)
  })

  test('an unconfirmed award is sent again if only isUsedId is given', async () => {
    const { client, sent, ledger, rows } = await withLostResponses()
    await rewardWallets(client, rows, { ledger })
    const before = sent()
    expect((await rewardWallets(client, rows, { ledger, isUsedId: () => true })).counts.alreadyAwarded).toBe(1)
    expect(sent()).toBe(before + 1)
  })

  test('an unconfirmed award is sent again if confirm does not find it and isUsedId is given', async () => {
    const { client, sent, ledger, rows } = await withLostResponses()
    await rewardWallets(client, rows, { ledger })
    const before = sent()
    const report = await rewardWallets(client, rows, { ledger, confirm: () => undefined, isUsedId: () => true })
    expect(report.counts).toEqual(counts({ alreadyAwarded: 1 }))
    expect(sent()).toBe(before + 1)
  })

  test.each(['isUsedId', 'confirm'] as const)('a %s that throws is called again in the next run', async (name) => {
    const { client, ledger, path, rows } = await withLostResponses()
    const evidence = {
      [name]: () => {
        throw new Error('the lookup of secret-123 failed')
      },
    }
    const report = await rewardWallets(client, rows, { ledger, ...evidence })
    expect(report).toMatchObject({ counts: counts({ indeterminate: 1 }), complete: false })
    expect(JSON.stringify(report)).not.toContain('secret-123')
    expect(await entriesOf(path)).toMatchObject([{ verdict: 'indeterminate', error: { code: 'evidence_failed' } }])
    expect((await rewardWallets(client, rows, { ledger, [name]: () => true })).counts.alreadyAwarded).toBe(1)
  })

  test('after a confirm that throws, the award is undecided but not in doubt: a run without confirm rejects it', async () => {
    const { client, service } = setup()
    const path = newPath()
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: 3 })
    await rewardWallets(client, awards(1), { ledger: fileLedger(path) })
    const confirm = () => Promise.reject(new Error('the database is down'))
    const options = { ledger: fileLedger(path), confirm, retryRejected: true }
    const report = await rewardWallets(client, awards(1), options)
    expect(report).toMatchObject({ counts: counts({ indeterminate: 1 }), complete: false })
    expect(report.problems).toMatchObject([{ reason: expect.stringContaining('confirm threw') }])
    expect(await entriesOf(path)).toMatchObject([{ verdict: 'indeterminate', error: { code: 'evidence_failed' } }])
    const next = await rewardWallets(client, awards(1), { ledger: fileLedger(path) })
    expect(next.counts).toEqual(counts({ rejected: 1 }))
  })

  test('an async isUsedId, which its type forbids, is awaited', async () => {
    const { client, ledger, rows } = await withLostResponses()
    const isUsedId = (async () => true) as never
    expect((await rewardWallets(client, rows, { ledger, isUsedId })).counts.alreadyAwarded).toBe(1)
  })
})

describe('ids and XP', () => {
  test('the same row twice is sent once', async () => {
    const { client, sent } = setup()
    const lower = award(0, { address: `0x${'ab'.repeat(20)}` })
    const upper = award(0, { address: `0x${'AB'.repeat(20)}` })
    const ledger = fileLedger(newPath())
    const report = await rewardWallets(client, [lower, lower, award(1), upper], { ledger })
    expect(report).toMatchObject({
      rows: 4,
      counts: counts({ awarded: 2, duplicate: 2 }),
      xp: counts({ awarded: 3, duplicate: 2 }),
      complete: true,
    })
    expect(sent()).toBe(2)
    const again = await rewardWallets(client, [upper, lower, award(1), upper], { ledger })
    expect(again).toMatchObject({ counts: counts({ awarded: 2, duplicate: 2 }), fromLedger: 2 })
  })

  test.each([
    [[0.1, 0.2], 0.3],
    [Array(10).fill(0.1), 1],
    [[1.1, 2.2, 3.3], 6.6],
    [[0.7, 0.1, 0.2, -1], 0],
    [Array(1_000).fill(1_234.56), 1_234_560],
  ])('sums of decimal XP have no binary rounding errors: %#', (amounts, sum) => {
    const report = new RunReport()
    for (const xp of amounts) report.add(0, award(0, { xp }), { verdict: 'awarded' })
    expect(report.xp.awarded).toBe(sum)
  })

  test('a sum of XP that is out of range is infinite', async () => {
    const { client } = setup()
    const rows = Array.from({ length: 3 }, (_, number) => award(number, { xp: Number.MAX_VALUE }))
    const { xp } = await rewardWallets(client, rows, { ledger: fileLedger(newPath()) })
    expect(xp.awarded).toBe(Infinity)
  })
})
