import type { OperationName } from '../../endpoints/index.ts'
import { getCampaignInfo } from './get-campaign-info.ts'
import { getCampaignPoints } from './get-campaign-points.ts'
import { getInviteCode } from './get-invite-code.ts'
import { getUserProfiles } from './get-user-profiles.ts'
import { getUserProgress } from './get-user-progress.ts'
import { recordActionValue } from './record-action-value.ts'
import { registerWebhook } from './register-webhook.ts'
import { rewardWallet } from './reward-wallet.ts'
import type { Rule } from './rule.ts'
import { setReferrer } from './set-referrer.ts'
import { setReferrerByRefId } from './set-referrer-by-ref-id.ts'
import { updateUser } from './update-user.ts'

/** The rule of each operation. See "Endpoints" in docs/the-service.md. */
export const rules: { readonly [Name in OperationName]: Rule<Name> } = {
  getUserProgress,
  rewardWallet,
  setReferrer,
  updateUser,
  setReferrerByRefId,
  recordActionValue,
  getCampaignInfo,
  getCampaignPoints,
  getUserProfiles,
  getInviteCode,
  registerWebhook,
}
