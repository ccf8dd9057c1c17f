import type { CampaignClient } from '../client.ts'
import { readOptions } from '../errors/read-options.ts'
import { findAward } from '../shared/find-award.ts'
import { mustBeBoolean, mustBeText, type OptionRules, optional } from '../shared/option-checks.ts'
import { WALLET_PLATFORM } from '../shared/wallet-address.ts'
import { issuesOfClient } from './arguments.ts'
import type { AwardRow } from './rows.ts'
import type { Confirmation } from './verdict.ts'

/** Options of {@link confirmFromProgress}. The command `check --allow-writes` finds out both values. */
export interface ConfirmFromProgressOptions {
  /**
   * The platform under which the service lists the awards of a wallet.
   *
   * @defaultValue `'ethereum'` (assumed: the API description does not say it)
   */
  platform?: string | undefined
  /**
   * Whether the rewards of a progress have the awarded amount. `true`: the amount is compared. `false`: the `id` alone
   * confirms an award. `undefined`: unknown, so another amount proves nothing.
   *
   * @defaultValue undefined
   */
  amounts?: boolean | undefined
}

const OPTIONS: OptionRules<ConfirmFromProgressOptions> = {
  platform: optional(mustBeText),
  amounts: optional(mustBeBoolean),
}

/**
 * Returns a `confirm` function for `rewardWallets` and `awardOne`. It reads the progress of the wallet and looks for the
 * award's `id` in `rewards`.
 *
 * An award that is not listed is neither confirmed nor denied: the service may still be processing it. The same applies if
 * the progress can't be read.
 * See "GET /user/progress" in docs/the-service.md.
 *
 * @param client - reads the progress with `getUserProgress`
 * @param options - how the service lists awards
 * @throws ConfigurationError when the client or an option is invalid
 *
 * @example
 * ```ts
 * const confirm = confirmFromProgress(client)
 * const verdict = await awardOne(client, row, { ledger, confirm })
 * ```
 */
export function confirmFromProgress(
  client: Pick<CampaignClient, 'getUserProgress'>,
  options: ConfirmFromProgressOptions = {},
): (row: AwardRow) => Promise<Confirmation> {
  const clientIssues = issuesOfClient(client, 'getUserProgress')
  const { platform = WALLET_PLATFORM, amounts } = readOptions('confirmFromProgress', options, OPTIONS, clientIssues)

  return async ({ address, pid, id, xp }) => {
    try {
      const { rewards } = await client.getUserProgress({ account: address, platform, pid })
      const { found, foundXp } = findAward(rewards, { id, xp }, amounts)
      if (found === 'same_amount') return true
      return amounts && foundXp !== undefined ? { xp: foundXp } : undefined
    } catch {
      // A progress that can't be read proves nothing.
      return undefined
    }
  }
}
