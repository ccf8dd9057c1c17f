import type { ConfirmFromProgressOptions } from 'campaign-client/bulk'
import { WALLET_PLATFORM } from '../../shared/award.ts'
import type { Profile } from '../check/profile.ts'

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
