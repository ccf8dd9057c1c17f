import * as campaign from 'campaign-client'
import { AwardUnsettledError, awardOne, fileLedger, type SharedLedger } from 'campaign-client/bulk'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { LEDGER } from '../../src/shared/ledger-key.ts'
import { award, newPath, setup } from './fixtures.ts'

/** Returns a ledger in a file that several calls of `awardOne` can use. */
async function sharedLedger(): Promise<SharedLedger> {
  const session = await fileLedger(newPath())[LEDGER].open(undefined)
  onTestFinished(() => session.close())
  return { kind: 'shared', run: 'jobs', [LEDGER]: { open: async () => session, check: async () => undefined } }
}

const response = (status: number, retryAfterMs?: number) =>
  ({ status, headers: {}, outcome: 'not_applied', retryAfterMs }) as const

test('an unconfirmed award is sent again only if isUsedId is given', async () => {
  const ledger = await sharedLedger()
  let calls = 0
  let error: Error = new campaign.NetworkError('lost', { outcome: 'unknown' })
  const failing = {
    async rewardWallet() {
      calls++
      throw error
    },
  }
  await expect(awardOne(failing, award(1), { ledger })).rejects.toThrow(AwardUnsettledError)
  error = new campaign.BadRequestError('no', response(400))
  expect(await awardOne(failing, award(1), { ledger })).toBe('unconfirmed')
  expect(await awardOne(failing, award(1), { ledger })).toBe('unconfirmed')
  expect(calls).toBe(2)
  expect(await awardOne(failing, award(1), { ledger, isUsedId: () => true })).toBe('alreadyAwarded')
  expect(calls).toBe(3)
})

test('a row that is invalid or that the guard forbids is refused before it is claimed', async () => {
  const { client } = setup({ guard: { maxXpPerAward: 1 } })
  const claim = vi.fn()
  const ledger = { kind: 'shared', run: 'jobs', [LEDGER]: { open: async () => ({ claim }) } } as never
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
  const ledger = await sharedLedger()
  const rewardWallet = vi.fn(async () => undefined)
  expect(await awardOne({ rewardWallet }, award(1), { ledger })).toBe('awarded')
  const made = awardOne({ rewardWallet }, award(1, { xp: 7 }), { ledger })
  await expect(made).rejects.toThrow(campaign.InvalidRequestError)
  await expect(made).rejects.toThrow(/^awardOne: .*xp is 7, but the award with the id "award-1" has 2/)
  expect(rewardWallet).toHaveBeenCalledTimes(1)
})

test('awardOne throws the error of a token source that fails', async () => {
  const { client } = setup({ accessToken: () => Promise.reject(new Error('the issuer is down')) })
  const made = awardOne(client, award(1), { ledger: await sharedLedger() })
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
    const ledger = await sharedLedger()
    const failing = { rewardWallet: () => Promise.reject(cause) }
    const error: unknown = await awardOne(failing, award(1), { ledger }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(AwardUnsettledError)
    expect(error).toMatchObject({ code: 'award_unsettled', operation: 'awardOne', reason, outcome, cause })
    expect((error as AwardUnsettledError).retryAfterMs).toBe(retryAfterMs)
    expect((error as AwardUnsettledError).message).toMatch(/^awardOne: .+: .+\. Run it again/)
    const working = { rewardWallet: async () => undefined }
    expect(await awardOne(working, award(1), { ledger })).toBe('awarded')
  })

  test('throws the error of the guard if the guard of the client refuses the row', async () => {
    const ledger = await sharedLedger()
    const cause = new campaign.InvalidRequestError('forbidden', { issues: [] })
    await expect(awardOne({ rewardWallet: () => Promise.reject(cause) }, award(1), { ledger })).rejects.toBe(cause)
  })

  test('throws AwardUnsettledError if confirm throws', async () => {
    const ledger = await sharedLedger()
    const refused = new campaign.BadRequestError('no', response(400))
    const made = awardOne({ rewardWallet: () => Promise.reject(refused) }, award(1), {
      ledger,
      confirm: () => Promise.reject(new Error('the database is down')),
    })
    await expect(made).rejects.toMatchObject({ reason: 'indeterminate', cause: refused })
  })
})
