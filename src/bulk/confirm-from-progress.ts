import type { CampaignClient } from '../client.ts'
import { mustBeBoolean, mustBeText, type OptionRules, optional, readOptions } from '../errors/option-checks.ts'
import { findAward } from '../shared/award.ts'
import { reasonOf, TIMED_OUT, withTimeout } from '../shared/timers.ts'
import { hasMethod } from '../shared/type-checks.ts'
import { WALLET_PLATFORM } from '../shared/wallet-address.ts'
import { type CallOutcome, type Confirmation, DONE, type Evidence, type Judge, outcomeOf } from './attempt.ts'
import { type AwardRow, issuesOfClient } from './rows.ts'

/** Options of {@link confirmFromProgress}. The command `check --allow-writes` finds out both values. */
export interface ConfirmFromProgressOptions {
  /**
   * The platform under which the service lists the awards of a wallet.
   *
   * @defaultValue `'ethereum'` (assumed: the API description does not say it)
   */
  platform?: string | undefined
  /**
   * Whether the service puts the amount of an award into `rewards`. With `true`, the amounts are compared. With `false`, the
   * `id` alone confirms an award. With `undefined`, only an entry with the `id` and the same amount confirms an award.
   *
   * @defaultValue undefined
   */
  amounts?: boolean | undefined
}

const OPTIONS: OptionRules<ConfirmFromProgressOptions> = {
  platform: optional(mustBeText),
  amounts: optional(mustBeBoolean),
}

/** Looks for the award of a row, for instance in the progress of its wallet. */
export type ReadAward = (row: AwardRow, signal?: AbortSignal) => Promise<AwardReading>

interface AwardReading {
  readonly confirmation: Confirmation
  /** The outcome of the call, for the pace of a run; `undefined` if it says nothing about other calls. */
  readonly outcome?: CallOutcome | undefined
}

const readers = new WeakMap<object, ReadAward>()

/** Returns the function that reads the progress for `confirm`; `undefined` if {@link confirmFromProgress} did not make it. */
export const readerOf = (confirm: object): ReadAward | undefined => readers.get(confirm)

/** The time limit of a reading. */
const MAX_READING_MS = 10_000

/**
 * Returns a `confirm` function for `rewardWallets` and `awardOne`. It reads the progress of the wallet and looks for the
 * award's `id` in `rewards`. It is the default of both functions if the client has `getUserProgress`.
 *
 * A reading is one call without retries, and ends after ten seconds. In a run, it waits for the end of a pause, and a 429
 * response to it starts one. An award that is not listed is neither confirmed nor denied: the service may still be processing
 * it. The same applies if the progress can't be read.
 * See "GET /user/progress" in docs/the-service.md.
 *
 * @param client - reads the progress with `getUserProgress`
 * @param options - how the service lists awards
 * @throws ConfigurationError when the client or an option is invalid
 *
 * @example
 * ```ts
 * const confirm = confirmFromProgress(client, { amounts: true })
 * const verdict = await awardOne(client, row, { confirm })
 * ```
 */
export function confirmFromProgress(
  client: Pick<CampaignClient, 'getUserProgress'>,
  options: ConfirmFromProgressOptions = {},
): (row: AwardRow) => Promise<Confirmation> {
  const clientIssues = issuesOfClient(client, 'getUserProgress')
  const { platform = WALLET_PLATFORM, amounts } = readOptions('confirmFromProgress', options, OPTIONS, clientIssues)

  const read: ReadAward = async ({ address, pid, id, xp }, signal) => {
    try {
      const reading = client.getUserProgress(
        { account: address, platform, pid },
        { maxRetries: 0, totalTimeoutMs: MAX_READING_MS, ...(signal && { signal }) },
      )
      // A client of another class may ignore the options.
      const progress = await withTimeout(reading, MAX_READING_MS, signal)
      if (progress === TIMED_OUT) return { confirmation: undefined }
      const { found, foundXp } = findAward(progress.rewards, { id, xp }, amounts)
      if (found === 'same_amount') return { outcome: DONE, confirmation: true }
      return { outcome: DONE, confirmation: amounts && foundXp !== undefined ? { xp: foundXp } : undefined }
    } catch (error) {
      // An aborted reading must not end as a reading that proves nothing: the award would be recorded as rejected.
      if (signal?.aborted) throw reasonOf(signal)
      // A progress that can't be read proves nothing.
      const outcome = outcomeOf(error)
      // Awards may be possible without the right to read.
      return { ...(outcome.kind !== 'fatal' && { outcome }), confirmation: undefined }
    }
  }
  const confirm = async (row: AwardRow): Promise<Confirmation> => (await read(row)).confirmation
  readers.set(confirm, read)
  return confirm
}

/** Returns the `confirm` function of an option: the default reads the progress, and `false` turns it off. */
export function confirmOf(
  confirm: Evidence['confirm'],
  client: Partial<Pick<CampaignClient, 'getUserProgress'>>,
): Judge['confirm'] {
  if (confirm !== undefined) return confirm === false ? undefined : confirm
  return hasProgress(client) ? confirmFromProgress(client) : undefined
}

const hasProgress = (client: object): client is Pick<CampaignClient, 'getUserProgress'> =>
  hasMethod(client, 'getUserProgress')
