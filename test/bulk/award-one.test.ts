import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as campaign from 'campaign-client'
import {
  type AwardOneOptions,
  AwardUnsettledError,
  awardOne,
  type FinalVerdict,
  fileLedger,
  rewardWallets,
} from 'campaign-client/bulk'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { LEDGER } from '../../src/bulk/ledger/ledger.ts'
import { award, awards, holdCalls, newPath, openFiles, setup, temporaryFolder, verdictsOf } from './fixtures.ts'

const newLedger = () => fileLedger(newPath())

const response = (status: number, retryAfterMs?: number) =>
  ({ status, headers: {}, outcome: 'not_applied', retryAfterMs }) as const

describe('without a ledger, after a lost response', () => {
  /** Makes an award whose response is lost. */
  async function lostAward() {
    const { client, service, sent } = setup()
    service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
    await expect(awardOne(client, award(1))).rejects.toMatchObject({ reason: 'indeterminate' })
    return { client, service, sent }
  }

  test('a second call finds the award in the progress of the wallet', async () => {
    const { client, service } = await lostAward()
    expect(await awardOne(client, award(1))).toBe('alreadyAwarded')
    expect(await awardOne(client, award(1), { mayBeSent: false })).toBe('alreadyAwarded')
    expect(service.state.awards).toHaveLength(1)
  })

  test.each<[AwardOneOptions, FinalVerdict]>([
    [{ confirm: false }, 'unconfirmed'],
    [{ confirm: () => undefined }, 'unconfirmed'],
    [{ confirm: false, mayBeSent: false }, 'rejected'],
    [{ confirm: false, isUsedId: () => true }, 'alreadyAwarded'],
    [{ confirm: () => ({ xp: 7 }) }, 'rejected'],
  ])('with %o, the award is %s', async (options, verdict) => {
    const { client } = await lostAward()
    expect(await awardOne(client, award(1), options)).toBe(verdict)
  })

  test('a progress that responds with 429 proves nothing, and is not read again', async () => {
    const { client, service } = await lostAward()
    service.fail({ on: 'getUserProgress', kind: 'status', status: 429 })
    expect(await awardOne(client.with({ maxRetries: 2 }), award(1))).toBe('unconfirmed')
    expect(service.requests.filter(({ operation }) => operation === 'getUserProgress')).toHaveLength(1)
  })
})

describe('over a ledger in a file', () => {
  /** Stops `performance.now`, which decides when a file was open for long. */
  function stopClock(): void {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
  }

  /** Waits until the files of `awardOne` are closed. */
  async function idle(path: string): Promise<void> {
    await expect.poll(() => openFiles(path)).toEqual([])
  }

  test('a final verdict is not sent again, and the file is closed after a second without a call', async () => {
    stopClock()
    const { client, sent } = setup()
    const path = newPath()
    const ledger = fileLedger(path)
    expect(await awardOne(client, award(1), { ledger })).toBe('awarded')
    expect(openFiles(path)).not.toEqual([])
    expect(await awardOne(client, award(1), { ledger: fileLedger(path) })).toBe('awarded')
    expect(sent()).toBe(1)
    await idle(path)
    expect(readdirSync(dirname(path))).toEqual(['awards.ledger'])
    expect(await awardOne(client, award(1), { ledger })).toBe('awarded')
  })

  test('a file that was open for longer is closed at the end of a call, so that other processes get their turn', async () => {
    stopClock()
    const { client } = setup()
    const slow = holdCalls(client)
    const path = newPath()
    const call = awardOne(slow, award(1), { ledger: fileLedger(path) })
    await expect.poll(() => slow.waiting).toHaveLength(1)
    expect(openFiles(path)).not.toEqual([])
    vi.advanceTimersByTime(1_001)
    slow.waiting[0]?.()
    expect(await call).toBe('awarded')
    expect(openFiles(path)).toEqual([])
  })

  test('an error says unknown if an earlier call may have made the award', async () => {
    const { client, service } = setup()
    const ledger = fileLedger(newPath())
    const unsettled = (status: number) => {
      service.fail({ on: 'rewardWallet', kind: 'status', status })
      return awardOne(client.with({ maxRetries: 0 }), award(1), { ledger }).catch((error: unknown) => error)
    }
    expect(await unsettled(429)).toMatchObject({ code: 'award_unsettled', outcome: 'not_applied' })
    expect(await unsettled(500)).toMatchObject({ code: 'award_unsettled', outcome: 'unknown' })
    expect(await unsettled(429)).toMatchObject({ code: 'award_unsettled', outcome: 'unknown' })
  })

  test('of calls with one id at once, one sends, and all get its verdict; another wallet is refused', async () => {
    const { client, service, sent } = setup()
    const slow = holdCalls(client)
    const ledger = fileLedger(newPath())
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400 })
    const options = { ledger, retryRejected: true }
    const calls = [1, 2, 3].map(() => awardOne(slow, award(1), options))
    await expect.poll(() => slow.waiting).toHaveLength(1)
    await expect(awardOne(client, award(1, { address: award(2).address }), options)).rejects.toThrow(
      campaign.InvalidRequestError,
    )
    slow.waiting[0]?.()
    expect(await Promise.all(calls)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(sent()).toBe(1)
  })

  test('a run and readLedger take the file over when no call is in flight', async () => {
    const { client } = setup()
    const path = newPath()
    const ledger = fileLedger(path)
    await awardOne(client, award(1), { ledger })
    expect(await verdictsOf(path)).toEqual({ 'award-1': 'awarded' })
    await awardOne(client, award(2), { ledger })
    expect((await rewardWallets(client, awards(3), { ledger })).fromLedger).toBe(2)
  })

  test('a call waits for a run that has the file, for 5 s at most', async () => {
    const { client } = setup()
    const ledger = fileLedger(newPath())
    const session = await ledger[LEDGER].open(undefined)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const refused = awardOne(client, award(1), { ledger }).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(5_100)
    expect(await refused).toMatchObject({ code: 'award_unsettled', reason: 'busy' })
    const waiting = awardOne(client, award(1), { ledger })
    await vi.advanceTimersByTimeAsync(1_000)
    await session.close()
    await vi.advanceTimersByTimeAsync(100)
    expect(await waiting).toBe('awarded')
  })

  test('an award of another target is refused, while another call has the file open', async () => {
    const [here, there] = [setup(), setup({ baseUrl: 'https://other.example/api/v1' })]
    const ledger = fileLedger(newPath())
    expect(await awardOne(here.client, award(1), { ledger })).toBe('awarded')
    await expect(awardOne(there.client, award(2), { ledger })).rejects.toThrow('another target')
    expect(there.sent()).toBe(0)
  })

  test('a folder that cannot be written is named, and nothing is sent', async () => {
    const { client, sent } = setup()
    const path = join(temporaryFolder(), 'missing', 'awards.ledger')
    const made = awardOne(client, award(1), { ledger: fileLedger(path) })
    await expect(made).rejects.toThrow(campaign.ConfigurationError)
    await expect(made).rejects.toThrow('its folder does not exist')
    expect(sent()).toBe(0)
  })

  test('mayBeSent: true puts an award in doubt that the ledger does not know', async () => {
    const { client } = setup()
    await client.rewardWallet(award(1))
    const options = { confirm: false, mayBeSent: true } as const
    expect(await awardOne(client, award(1), { ledger: newLedger(), ...options })).toBe('unconfirmed')
    expect(await awardOne(client, award(1), { ledger: newLedger(), confirm: false })).toBe('rejected')
  })
})

test.each(['with', 'without'])(
  'the award that is checked is sent, %s a ledger, even if the row is changed during the call',
  async (given) => {
    const { client, service } = setup()
    const row = { ...award(1) }
    const call = awardOne(client, row, given === 'with' ? { ledger: newLedger() } : {})
    Object.assign(row, { id: 'other', xp: -50 })
    expect(await call).toBe('awarded')
    expect(service.state.awards).toMatchObject([award(1)])
  },
)

test('a row that is invalid or that the guard forbids is refused before it is claimed', async () => {
  const { client } = setup({ guard: { maxXpPerAward: 1 } })
  const claim = vi.fn()
  const openForOne = async () => ({ claim, close: async () => undefined })
  const ledger = { kind: 'shared', run: 'jobs', [LEDGER]: { openForOne } } as never
  for (const [row, words] of [
    [award(1, { xp: Number.NaN }), /^awardOne: xp: expected/],
    [award(1, { xp: 0 }), /^awardOne: xp must be above 0/],
    [award(1, { xp: -1 }), /^awardOne: xp must be above 0/],
    [award(1, { id: 'a\u0000b' }), /^awardOne: id must not contain U\+0000/],
    [award(5), /^awardOne: xp .* maxXpPerAward of the guard/],
  ] as const) {
    await expect(awardOne(client, row, { ledger })).rejects.toThrow(campaign.InvalidRequestError)
    await expect(awardOne(client, row, { ledger })).rejects.toThrow(words)
  }
  expect(claim).not.toHaveBeenCalled()
})

test('a row with the id of another award is refused with the recorded amount, and is not sent', async () => {
  const ledger = newLedger()
  const rewardWallet = vi.fn(async () => undefined)
  expect(await awardOne({ rewardWallet }, award(1), { ledger })).toBe('awarded')
  const made = awardOne({ rewardWallet }, award(1, { xp: 7 }), { ledger })
  await expect(made).rejects.toThrow(campaign.InvalidRequestError)
  await expect(made).rejects.toThrow(/^awardOne: .*xp is 7, but the award with the id "award-1" has 2/)
  expect(rewardWallet).toHaveBeenCalledTimes(1)
})

test('awardOne throws the error of a token source that fails', async () => {
  const { client } = setup({ accessToken: () => Promise.reject(new Error('the issuer is down')) })
  const made = awardOne(client, award(1), { ledger: newLedger() })
  await expect(made).rejects.toThrow(campaign.AccessTokenError)
  await expect(made).rejects.toMatchObject({ operation: 'awardOne', outcome: 'not_applied' })
})

describe('awardOne', () => {
  test.each<[string, cause: Error, reason: string, outcome: string, retryAfterMs?: number]>([
    [
      'a request that was not sent',
      new campaign.NetworkError('lost', { outcome: 'not_applied' }),
      'not_sent',
      'not_applied',
    ],
    ['a lost response', new campaign.NetworkError('lost', { outcome: 'unknown' }), 'indeterminate', 'unknown'],
    ['a 500', new campaign.ServiceError('no', { ...response(500), outcome: 'unknown' }), 'indeterminate', 'unknown'],
    ['a 429', new campaign.RateLimitError('wait', response(429)), 'rate_limited', 'not_applied'],
    [
      'a 429 with Retry-After',
      new campaign.RateLimitError('wait', response(429, 7_000)),
      'rate_limited',
      'not_applied',
      7_000,
    ],
    ['a 401', new campaign.UnauthorizedError('no', response(401)), 'refused_for_now', 'not_applied'],
    ['a 403', new campaign.AccessDeniedError('no', response(403)), 'refused_for_now', 'not_applied'],
    [
      'a missing token',
      new campaign.AccessTokenError('no', { outcome: 'not_applied' }),
      'refused_for_now',
      'not_applied',
    ],
    ['an unknown error', new TypeError('bug'), 'indeterminate', 'unknown'],
  ])('throws AwardUnsettledError after %s; a later call awards', async (_, cause, reason, outcome, retryAfterMs) => {
    const ledger = newLedger()
    const failing = { rewardWallet: () => Promise.reject(cause) }
    const error: unknown = await awardOne(failing, award(1), { ledger }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(AwardUnsettledError)
    expect(error).toMatchObject({ code: 'award_unsettled', operation: 'awardOne', reason, outcome, cause })
    expect((error as AwardUnsettledError).retryAfterMs).toBe(retryAfterMs)
    expect((error as AwardUnsettledError).message).toMatch(/^awardOne: .+: .+\. Call it again with the same row/)
    const working = { rewardWallet: async () => undefined }
    expect(await awardOne(working, award(1), { ledger })).toBe('awarded')
  })

  test('throws the error of the guard if the guard of the client refuses the row', async () => {
    const ledger = newLedger()
    const cause = new campaign.InvalidRequestError('forbidden', { issues: [] })
    await expect(awardOne({ rewardWallet: () => Promise.reject(cause) }, award(1), { ledger })).rejects.toBe(cause)
  })

  test('throws AwardUnsettledError if confirm throws, and says so', async () => {
    const ledger = newLedger()
    const refused = new campaign.BadRequestError('no', response(400))
    const made = awardOne({ rewardWallet: () => Promise.reject(refused) }, award(1), {
      ledger,
      confirm: () => Promise.reject(new Error('the database is down')),
    })
    const message = expect.stringContaining('awardOne: isUsedId or confirm threw: Error. Call it again')
    await expect(made).rejects.toMatchObject({ reason: 'indeterminate', cause: refused, message })
    const unconfirmed = { confirm: () => undefined, mayBeSent: true }
    const refusing = { rewardWallet: () => Promise.reject(refused) }
    expect(await awardOne(refusing, award(2), { ledger, ...unconfirmed })).toBe('unconfirmed')
    const again = awardOne(refusing, award(2), { ledger, confirm: () => Promise.reject(new Error('down')) })
    await expect(again).rejects.toMatchObject({ code: 'award_unsettled', reason: 'indeterminate' })
  })
})
