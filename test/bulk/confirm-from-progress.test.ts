import type { CallOptions, CampaignClient, UserProgress } from 'campaign-client'
import { confirmFromProgress, fileLedger, rewardWallets } from 'campaign-client/bulk'
import { describe, expect, test } from 'vitest'
import { skipPauses } from '../support/skip-pauses.ts'
import { award, entriesOf, newPath, setup, stopErrorOf } from './fixtures.ts'

const AWARD = award(1, { id: 'launch-1', xp: 5 })

type Reward = UserProgress['rewards'][number]
const reward = (changes: Partial<Reward> = {}): Reward =>
  ({ id: 'launch-1', type: 'xp', reward: '5', ...changes }) as Reward

/** Returns a client whose progress has these rewards, and the arguments of its readings. */
function progressWith(...rewards: Reward[]) {
  const readings: Parameters<CampaignClient['getUserProgress']>[0][] = []
  const client: Pick<CampaignClient, 'getUserProgress'> = {
    async getUserProgress(user) {
      readings.push(user)
      return { rewards } as UserProgress
    },
  }
  return { client, readings }
}

describe('confirmFromProgress', () => {
  test('reads the progress of the wallet on the platform ethereum, or on yours', async () => {
    const { client, readings } = progressWith()
    await confirmFromProgress(client)(AWARD)
    await confirmFromProgress(client, { platform: 'evm' })(AWARD)
    expect(readings).toEqual([
      { account: AWARD.address, platform: 'ethereum', pid: 'demo' },
      { account: AWARD.address, platform: 'evm', pid: 'demo' },
    ])
  })

  const same = reward()
  const other = reward({ reward: '7' })
  const withoutAmount = reward({ type: 'badge', reward: '5' })
  const notANumber = reward({ reward: ' ' })
  const missing = reward({ id: 'launch-2' })
  test.for([
    ['the same amount', same, undefined, true],
    ['the same amount', same, true, true],
    ['the same amount', same, false, true],
    ['another amount', other, undefined, undefined],
    ['another amount', other, true, { xp: 7 }],
    ['another amount', other, false, true],
    ['a reward without an amount', withoutAmount, undefined, undefined],
    ['a reward without an amount', withoutAmount, true, undefined],
    ['a reward without an amount', withoutAmount, false, true],
    ['an empty amount', notANumber, undefined, undefined],
    ['an empty amount', notANumber, true, undefined],
    ['an empty amount', notANumber, false, true],
    ['another id', missing, undefined, undefined],
    ['another id', missing, true, undefined],
    ['another id', missing, false, undefined],
  ] as const)('for %s (%o), with amounts: %s, resolves to %o', async ([, listed, amounts, expected]) => {
    const { client } = progressWith(listed)
    expect(await confirmFromProgress(client, { amounts })(AWARD)).toEqual(expected)
  })

  test.each([
    [[same, other], true],
    [[other, same], true],
    [[withoutAmount, other], { xp: 7 }],
    [[other, withoutAmount], { xp: 7 }],
  ])('an id that is listed more than once (%o) resolves to %o', async (listed, expected) => {
    const { client } = progressWith(...listed)
    expect(await confirmFromProgress(client, { amounts: true })(AWARD)).toEqual(expected)
  })

  test('resolves to undefined if the progress cannot be read, or has no rewards', async () => {
    const failing = { getUserProgress: () => Promise.reject(new Error('503')) }
    expect(await confirmFromProgress(failing)(AWARD)).toBeUndefined()
    const empty = { getUserProgress: async () => ({}) as UserProgress }
    expect(await confirmFromProgress(empty)(AWARD)).toBeUndefined()
  })

  test('confirms an award whose response was lost', async () => {
    const { service, client } = setup()
    const ledger = fileLedger(newPath())
    const row = award(1)
    service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
    const run = () => rewardWallets(client, [row], { ledger })
    expect((await run()).counts).toMatchObject({ indeterminate: 1 })
    expect((await run()).counts).toMatchObject({ alreadyAwarded: 1, unconfirmed: 0 })
    expect(service.state.awards).toHaveLength(1)
  })

  test('in a run, is one reading at the pace of the run: a 429 pauses the run, and proves nothing', async () => {
    const elapsedMs = skipPauses()
    const { service, client } = setup({ maxRetries: 2 })
    const isOf = (operation: string) => service.requests.filter((request) => request.operation === operation).length
    await client.rewardWallet(award(0))
    const limit = { kind: 'status', status: 429, headers: { 'retry-after': '20' } } as const
    service.fail({ on: 'getUserProgress', ...limit })
    async function* rows() {
      yield award(0)
      await expect.poll(() => isOf('getUserProgress')).toBe(1)
      yield award(1)
    }
    const report = await rewardWallets(client, rows(), { ledger: fileLedger(newPath()), concurrency: 1 })
    expect(report.counts).toMatchObject({ rejected: 1, awarded: 1 })
    expect(isOf('getUserProgress')).toBe(1)
    expect(elapsedMs()).toBeGreaterThanOrEqual(20_000)
  })

  test('in a run that is aborted, ends at once, and the award stays undecided', async () => {
    const { client } = setup()
    await client.rewardWallet(award(0))
    const controller = new AbortController()
    let signal: AbortSignal | undefined
    const hanging = {
      rewardWallet: client.rewardWallet.bind(client),
      getUserProgress(_: unknown, options: CallOptions = {}) {
        signal = options.signal
        controller.abort()
        return new Promise<never>(() => undefined)
      },
    }
    const path = newPath()
    const stop = await stopErrorOf(
      rewardWallets(hanging, [award(0)], { ledger: fileLedger(path), signal: controller.signal }),
    )
    expect(signal?.aborted).toBe(true)
    expect(stop.report.counts).toMatchObject({ indeterminate: 1 })
    expect(await entriesOf(path)).toMatchObject([{ verdict: 'indeterminate', error: { code: 'evidence_failed' } }])
  })

  test('refuses a client without getUserProgress, a wrong option and a misspelt option', () => {
    const { client } = progressWith()
    expect(() => confirmFromProgress({} as never)).toThrow(/client must have the method getUserProgress/)
    expect(() => confirmFromProgress(client, { platform: '' })).toThrow(/platform/)
    expect(() => confirmFromProgress(client, { amount: true } as never)).toThrow(/amount is not an option/)
  })
})
