import { outcomeOf, statusOf } from '../../bulk/attempt.ts'
import type { ConfirmFromProgressOptions } from '../../bulk/confirm-from-progress.ts'
import type { AwardRow } from '../../bulk/rows.ts'
import type { CampaignClient } from '../../client.ts'
import { ApiError } from '../../errors/client-errors.ts'
import { walletKey } from '../../shared/award.ts'
import { WALLET_PLATFORM } from '../../shared/wallet-address.ts'
import { type Profile, readProfile, targetOf } from '../check/profile.ts'
import type { Context } from '../command.ts'
import { currentTokenOf, normalBaseUrlOf } from '../connection.ts'
import type { AwardList } from './list.ts'

/** A list, and what its ledger has. */
interface PlannedList {
  readonly list: AwardList
  /** The campaigns of the list. */
  readonly pids: readonly string[]
  /** The entries of the ledger, by id. */
  readonly contents: { readonly entries: ReadonlyMap<string, unknown> }
}

/** What the service says about a list before it is sent. */
export interface Asked {
  /** The campaigns that the service refuses. A 400 may only mean that the query has another name than assumed. */
  readonly refused: readonly { readonly pid: string; readonly status: number; readonly reason: string }[]
  /** The number of wallets whose progress was asked for. */
  readonly wallets: number
  /** How many of these wallets already have their award of this list, although the ledger does not have it. */
  readonly usedBefore: number
  /** Why the asking stopped early. */
  readonly stopped?: string
}

const MAX_CAMPAIGNS = 5
const MAX_WALLETS = 20
const MAX_MS = 15_000
const CAMPAIGN_REFUSALS: readonly number[] = [400, 403, 404]

/**
 * Reads the campaigns of a list, and the progress of some of its wallets. Sends no write.
 *
 * @param platform - the platform under which the service lists the awards of a wallet
 * @throws CampaignError when the token is refused, or there is no response to any read
 */
export async function askService(client: CampaignClient, plan: PlannedList, platform: string): Promise<Asked> {
  const refused: Asked['refused'][number][] = []
  let wallets = 0
  let usedBefore = 0
  let isReached = false
  let unreachable: unknown
  let stopped: string | undefined
  const endsAt = performance.now() + MAX_MS

  for (const { address, pid } of readsOf(plan)) {
    const leftMs = Math.floor(endsAt - performance.now())
    if (leftMs < 1) {
      stopped = `it took ${MAX_MS / 1_000} s`
      break
    }
    const options = { maxRetries: 0, timeoutMs: leftMs, totalTimeoutMs: leftMs }
    try {
      if (address === undefined) await client.getCampaignInfo({ pid }, options)
      else {
        const { rewards } = await client.getUserProgress({ account: address, platform, pid }, options)
        wallets++
        if (rewards.some(({ id }) => isNewAwardOf(plan, id, { address, pid }))) usedBefore++
      }
      isReached = true
    } catch (error) {
      const outcome = outcomeOf(error)
      if (outcome.kind === 'fatal' || outcome.error === undefined) throw error
      const reason = outcome.error.message
      if (outcome.kind === 'unreachable' && !isReached) {
        unreachable = error
        continue
      }
      isReached = true
      const isRefused = outcome.kind === 'refused' || outcome.kind === 'campaign_refused'
      const status = outcome.error instanceof ApiError ? statusOf(outcome.error) : 0
      if (isRefused && address !== undefined) wallets++
      else if (CAMPAIGN_REFUSALS.includes(status) && address === undefined) refused.push({ pid, status, reason })
      else {
        stopped = reason
        break
      }
    }
  }
  if (!isReached && unreachable !== undefined) throw unreachable
  return { refused, wallets, usedBefore, ...(stopped !== undefined && { stopped }) }
}

/** Returns the campaigns to ask for, then the wallets. The wallets are spread over the rows without an entry in the ledger. */
function readsOf({
  list,
  pids,
  contents: { entries },
}: PlannedList): { readonly pid: string; readonly address?: string }[] {
  const newAwards = [...list.awards.values()].filter(({ id }) => !entries.has(id))
  const wallets = [...new Map(newAwards.map((row) => [walletKey(row), row])).values()]
  const count = Math.min(MAX_WALLETS, wallets.length)
  const spread = Array.from(
    { length: count },
    (_, at) => wallets[Math.floor((at * wallets.length) / count)] as AwardRow,
  )
  return [...pids.slice(0, MAX_CAMPAIGNS).map((pid) => ({ pid })), ...spread]
}

/** Returns whether an id is that of an award of the list for this wallet, and the ledger does not have it. */
function isNewAwardOf({ list, contents }: PlannedList, id: string, wallet: Pick<AwardRow, 'address' | 'pid'>): boolean {
  const row = list.awards.get(id)
  return row !== undefined && !contents.entries.has(id) && walletKey(row) === walletKey(wallet)
}

/** How the service lists awards in the progress of a wallet. The API description does not show it. */
export interface ProgressFormat extends ConfirmFromProgressOptions {
  readonly platform: string
  /** Whether a part of the format is assumed, because there is no profile, or the profile lacks it. */
  readonly isAssumed: boolean
}

/** Reads the format from a profile. Assumes the missing parts. */
export const progressFormatOf = ({ walletPlatform, listsRewards }: Profile['award'] = {}): ProgressFormat => ({
  platform: walletPlatform ?? WALLET_PLATFORM,
  amounts: listsRewards === undefined ? undefined : listsRewards === 'ids_and_amounts',
  isAssumed: walletPlatform === undefined || listsRewards === undefined,
})

/** Reads the format of progress from a profile of `check`. @throws CommandFailure when the profile has another target */
export async function readProgressFormat(
  profile: string | undefined,
  { env, output }: Context,
): Promise<ProgressFormat> {
  if (profile === undefined) return progressFormatOf()
  const target = targetOf(normalBaseUrlOf(env), currentTokenOf(env))
  const { award } = await readProfile(profile, target, undefined, (message) => output.err.line('warning  ', message))
  return progressFormatOf(award)
}
