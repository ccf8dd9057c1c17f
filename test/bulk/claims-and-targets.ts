import type { CampaignClient } from 'campaign-client'
import { type AwardLedger, type AwardRow, type Rebind, rewardWallets } from 'campaign-client/bulk'
import { expect } from 'vitest'
import { award, counts, setup } from './fixtures.ts'

/** A target, as ledgers record it. */
const targetOf = (name: string): string =>
  JSON.stringify({ address: `https://${name}.example/api/v1/`, issuer: null, subject: null })
export const HERE = targetOf('here')
export const THERE = targetOf('there')
const REBIND = { from: 'https://here.example/api/v1/' }

export interface Combination {
  readonly recorded: string | null
  /** `undefined` for an object that is not a `CampaignClient`. */
  readonly current: string | undefined
  readonly rebind: Rebind | undefined
}

export const COMBINATIONS: readonly Combination[] = [null, HERE, THERE].flatMap((recorded) => [
  { recorded, current: undefined, rebind: undefined },
  { recorded, current: HERE, rebind: undefined },
  { recorded, current: THERE, rebind: undefined },
  { recorded, current: THERE, rebind: REBIND },
])

export const isRefused = ({ recorded, current, rebind }: Combination): boolean =>
  recorded !== null && current !== undefined && recorded !== current && !(rebind && recorded === HERE)

const targetName = (target: string | null | undefined): string =>
  target ? new URL(JSON.parse(target).address).hostname : 'no target'
export const label = ({ recorded, current, rebind }: Combination): string =>
  `recorded ${targetName(recorded)}, client with ${targetName(current)}${rebind ? ' and rebind' : ''}`

/** The states of a row before the run, and its verdict after the service has refused its id. */
export const ROWS = { new: 'rejected', expired: 'unconfirmed', inDoubt: 'unconfirmed', final: 'awarded' } as const
export type State = keyof typeof ROWS | 'live'

/** Returns a client whose service refuses every award with 400, and the number of its requests. */
export function refusedClient(current: string | undefined) {
  const { client, service, sent } = setup({ baseUrl: JSON.parse(current ?? HERE).address })
  service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: Infinity })
  const plain = { rewardWallet: (row: AwardRow) => client.rewardWallet(row) }
  const used: Pick<CampaignClient, 'rewardWallet'> = current === undefined ? plain : client
  return { client: used, sent }
}

export const row = award(0)
/** Binds the run to its target. */
export const other = award(9)

export async function expectRun(ledger: AwardLedger, combination: Combination, state: State): Promise<void> {
  const { client, sent } = refusedClient(combination.current)
  const run = rewardWallets(client, [row], { ledger })
  if (isRefused(combination)) {
    await expect(run).rejects.toMatchObject({ code: 'configuration', message: expect.stringContaining('rebind') })
    expect(sent()).toBe(0)
    return
  }
  // A run waits for a live claim until its lease expires.
  const verdict = ROWS[state === 'live' ? 'expired' : state]
  expect((await run).counts).toEqual(counts({ [verdict]: 1 }))
  expect(sent()).toBe(state === 'final' ? 0 : 1)
}
