import { CampaignClient, type CampaignClientOptions, ConfigurationError } from 'campaign-client'
import { type AwardLedger, type AwardRow, type Rebind, rewardWallets } from 'campaign-client/bulk'
import { nodeTransport } from 'campaign-client/node'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { award, awards, counts, setup, stopErrorOf } from './fixtures.ts'

/** Returns a token with these claims and an invalid signature. */
const jwt = (claims: object): string =>
  [{ alg: 'none' }, claims, 'signature']
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')

const HERE = 'https://service.example/api/v1/'
const THERE = 'https://other.example/api/v1/'
const token = jwt({ iss: 'issuer', sub: 'job' })

/** Opens a new ledger. Each call of the returned function opens the same ledger. */
type NewLedger = () => (options?: { rebind?: Rebind }) => AwardLedger

/** The tests of every ledger. */
export function ledgerContract(newLedger: NewLedger): void {
  const clientOf = (options: Partial<CampaignClientOptions>) => setup({ accessToken: token, ...options })

  test('stores every verdict for the next run', async () => {
    const { client, service, sent } = setup()
    const open = newLedger()
    service.fail({ on: 'rewardWallet', kind: 'applied_then_reset', times: 2 })
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: 2 })
    service.fail({ on: 'rewardWallet', kind: 'status', status: 429, headers: { 'retry-after': '0' } })
    const rows = [...awards(30), award(0), award(50, { id: '' })]
    const first = await rewardWallets(client, rows, { ledger: open(), concurrency: 1, confirm: false })
    expect(first).toMatchObject({
      counts: counts({ indeterminate: 2, rejected: 3, awarded: 26, duplicate: 1 }),
      complete: false,
    })
    const before = sent()
    const second = await rewardWallets(client, rows, { ledger: open(), confirm: false })
    expect(second).toMatchObject({
      counts: counts({ unconfirmed: 2, rejected: 3, awarded: 26, duplicate: 1 }),
      fromLedger: 28,
      complete: true,
    })
    expect(sent()).toBe(before + 2)
    const third = await rewardWallets(client, rows, { ledger: open(), retryRejected: true, confirm: () => true })
    expect(third.counts).toEqual(counts({ alreadyAwarded: 2, rejected: 1, awarded: 28, duplicate: 1 }))
    expect(service.state.awards).toHaveLength(30)
  })

  test('stores unusual ids, addresses and XP', async () => {
    const { client, service } = setup()
    const open = newLedger()
    const odd = ['é', 'e\u0301', '"', '\\', "'; DROP TABLE x; --", '\n', '😀', 'a'.repeat(20_000), '$1', '{}']
    const ids = [...odd, 'a', 'A', ' a', 'a ']
    const amounts = [1e-7, 0.1, 1e21, 5e-324, 1.7976931348623157e308, Number.MAX_SAFE_INTEGER, 1 / 3, 250, 2, 3]
    const rows = ids.map((id, number) => award(number, { id, xp: amounts[number % amounts.length] as number }))
    const mixed = rows.map((row) => ({ ...row, address: row.address.toUpperCase().replace('0X', '0x') }))
    expect((await rewardWallets(client, rows, { ledger: open() })).counts.awarded).toBe(ids.length)
    expect((await rewardWallets(client, mixed, { ledger: open() })).fromLedger).toBe(ids.length)
    expect(service.state.awards.map(({ id }) => id).sort()).toEqual(ids.sort())
  })

  test.each(['a\0', '\ud800'])('the id or pid %j makes the row invalid', async (text) => {
    const { client, sent } = setup()
    const rows = [award(1, { id: text }), award(2, { pid: text }), award(3)]
    const report = await rewardWallets(client, rows, { ledger: newLedger()() })
    expect(report.counts).toEqual(counts({ rejected: 2, awarded: 1 }))
    expect(report.problems.map(({ code }) => code)).toEqual(['invalid_request', 'invalid_request'])
    expect(sent()).toBe(1)
  })

  test('an id with other content stops the run, and the message shows the recorded award', async () => {
    const { client } = setup()
    const open = newLedger()
    await rewardWallets(client, awards(2), { ledger: open() })
    for (const rows of [[award(0, { xp: 7 })], [award(0), award(0, { xp: 7 })]]) {
      const stop = await stopErrorOf(rewardWallets(client, rows, { ledger: open() }))
      expect((stop.cause as Error).message).toContain('xp is 7, but the award with the id "award-0" has 1')
    }
    const rows = [award(5), award(0, { xp: 7 })]
    const strict = await stopErrorOf(rewardWallets(client, rows, { ledger: open(), strict: true }))
    expect(strict.report.counts.rejected).toBe(1)
  })

  test('finished rows of a halted campaign keep their verdicts', async () => {
    const { client, service } = setup()
    const ledger = newLedger()()
    service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
    await rewardWallets(client, awards(1), { ledger })
    await rewardWallets(client, awards(3, 1), { ledger })
    service.fail({ on: 'rewardWallet', kind: 'status', status: 403 })
    // The last row contradicts the ledger.
    const rows = [award(50), award(51), ...awards(3), award(1), award(3, { xp: 99 })]
    const report = await rewardWallets(client, rows, { ledger, concurrency: 1 })
    expect(report.counts).toEqual(counts({ awarded: 2, indeterminate: 1, duplicate: 1 }))
    expect(report).toMatchObject({ fromLedger: 2, complete: false })
    expect(report.problems).toMatchObject([{ id: 'award-0', verdict: 'indeterminate', code: 'network' }])
    // The row in doubt counts once, as indeterminate.
    expect(report.halted).toMatchObject([{ pid: 'demo', rows: 3 }])
  })

  test('an unconfirmed award stays in doubt: isUsedId shows in a later run that it was made', async () => {
    const { client, service } = setup({ maxRetries: 1 })
    const open = newLedger()
    service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
    const first = await rewardWallets(client, awards(1), { ledger: open(), confirm: false })
    expect(first.counts).toEqual(counts({ unconfirmed: 1 }))
    const second = await rewardWallets(client, awards(1), { ledger: open(), confirm: false, isUsedId: () => true })
    expect(second.counts).toEqual(counts({ alreadyAwarded: 1 }))
  })

  describe('binding', () => {
    test.each([
      ['401', { kind: 'status', status: 401, times: 2 }],
      ['403', { kind: 'status', status: 403 }],
      ['404', { kind: 'status', status: 404 }],
    ] as const)('a released intent (%s) binds nothing', async (_, fault) => {
      const open = newLedger()
      const wrong = clientOf({ baseUrl: THERE })
      wrong.service.fail({ on: 'rewardWallet', ...fault })
      await rewardWallets(wrong.client, awards(1), { ledger: open() }).catch(() => undefined)
      const { client } = clientOf({})
      expect((await rewardWallets(client, awards(1), { ledger: open() })).counts).toEqual(counts({ awarded: 1 }))
    })

    test('a base URL where nobody listens binds nothing over nodeTransport, and binds over fetch', async () => {
      const transport = nodeTransport()
      onTestFinished(() => void transport.close())
      const nobody = { baseUrl: 'http://127.0.0.1:9/api/v1', accessToken: token, maxRetries: 0 }
      const open = newLedger()
      const send = vi.fn(transport.send)
      const controller = new AbortController()
      const { signal } = controller
      const run = rewardWallets(new CampaignClient({ ...nobody, transport: { send } }), awards(1), {
        ledger: open(),
        signal,
      })
      await expect.poll(() => send.mock.settledResults[0]?.type).toBe('rejected')
      controller.abort()
      await run.catch(() => undefined)
      const { client } = clientOf({})
      expect((await rewardWallets(client, awards(1), { ledger: open() })).counts).toEqual(counts({ awarded: 1 }))

      const other = newLedger()
      await rewardWallets(new CampaignClient({ ...nobody, fetch }), awards(1), { ledger: other() }).catch(
        () => undefined,
      )
      await expect(rewardWallets(client, awards(1), { ledger: other() })).rejects.toThrow('another target')
    })

    test('an attempt that may have been applied binds, even if the next attempt is released', async () => {
      const open = newLedger()
      const { client, service } = clientOf({})
      service.fail({ on: 'rewardWallet', kind: 'reset' })
      await rewardWallets(client, awards(1), { ledger: open() })
      service.fail({ on: 'rewardWallet', kind: 'status', status: 403 })
      await rewardWallets(client, awards(1), { ledger: open() })
      const other = clientOf({ baseUrl: THERE })
      await expect(rewardWallets(other.client, awards(1), { ledger: open() })).rejects.toThrow('another target')
      expect(other.sent()).toBe(0)
    })

    test.each([
      ['base URL', { baseUrl: THERE }, HERE, `base URL "${HERE}", and the client now has "${THERE}"`],
      [
        'issuer',
        { accessToken: jwt({ iss: 'new', sub: 'job' }) },
        'issuer',
        `token issuer ('iss') "issuer", and the client now has "new"`,
      ],
      [
        'subject',
        { accessToken: jwt({ iss: 'issuer', sub: 'new' }) },
        'job',
        `token subject ('sub') "job", and the client now has "new"`,
      ],
      [
        'subject that is a number',
        { accessToken: jwt({ iss: 'issuer', sub: 42 }) },
        'job',
        `token subject ('sub') "job", and the client now has "42"`,
      ],
      ['token without claims', { accessToken: 'an-opaque-token' }, 'job', `"issuer", and the client now has none`],
    ])('another %s is refused, and accepted with rebind', async (_, changes, from, words) => {
      const open = newLedger()
      await rewardWallets(clientOf({}).client, awards(1), { ledger: open() })
      const other = clientOf(changes)
      const refused = rewardWallets(other.client, awards(2), { ledger: open() })
      await expect(refused).rejects.toThrow(ConfigurationError)
      await expect(refused).rejects.toThrow(words)
      await expect(refused).rejects.toThrow('pass rebind: { from: "')
      const wrong = open({ rebind: { from: 'something else' } })
      const misbound = rewardWallets(other.client, awards(2), { ledger: wrong })
      await expect(misbound).rejects.toThrow('rebind.from must be "')
      const issue = { path: ['rebind', 'from'], message: expect.stringMatching(/^must be ".+"$/) }
      await expect(misbound).rejects.toMatchObject({ issues: [issue] })
      await expect(refused).rejects.toMatchObject({ issues: [] })
      expect(other.sent()).toBe(0)

      const rebind = { from }
      const moved = await rewardWallets(other.client, awards(2), { ledger: open({ rebind }) })
      expect(moved).toMatchObject({ counts: counts({ awarded: 2 }), fromLedger: 1 })
      // It has no effect once the ledger has moved, and the old target is refused.
      expect((await rewardWallets(other.client, awards(2), { ledger: open({ rebind }) })).fromLedger).toBe(2)
      expect((await rewardWallets(other.client, awards(2), { ledger: open() })).fromLedger).toBe(2)
      await expect(rewardWallets(clientOf({}).client, awards(2), { ledger: open() })).rejects.toThrow('another target')
    })

    test('a run in which all awards have their verdicts moves the ledger as well', async () => {
      const open = newLedger()
      await rewardWallets(clientOf({}).client, awards(1), { ledger: open() })
      const { client } = clientOf({ accessToken: jwt({ iss: 'new', sub: 'job' }) })
      const moved = await rewardWallets(client, awards(1), { ledger: open({ rebind: { from: 'issuer' } }) })
      expect(moved).toMatchObject({ fromLedger: 1, complete: true })
      expect((await rewardWallets(client, awards(2), { ledger: open() })).fromLedger).toBe(1)
      await expect(rewardWallets(clientOf({}).client, awards(2), { ledger: open() })).rejects.toThrow('another target')
    })

    test('a new token of the same account is accepted, and so is a client of another class', async () => {
      const open = newLedger()
      const { client } = clientOf({})
      const wrapped = { rewardWallet: (row: AwardRow) => client.rewardWallet(row) }
      await rewardWallets(wrapped, awards(1), { ledger: open() })
      const renewed = clientOf({ accessToken: jwt({ iss: 'issuer', sub: 'job', iat: 5 }) })
      expect((await rewardWallets(renewed.client, awards(2), { ledger: open() })).fromLedger).toBe(1)
      expect((await rewardWallets(wrapped, awards(2), { ledger: open() })).fromLedger).toBe(2)
      expect((await rewardWallets(client, awards(2), { ledger: open() })).fromLedger).toBe(2)
      const other = clientOf({ baseUrl: THERE })
      await expect(rewardWallets(other.client, awards(2), { ledger: open() })).rejects.toThrow('another target')
    })
  })
}
