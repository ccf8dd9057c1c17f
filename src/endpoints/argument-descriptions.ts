import type { OperationName } from './index.ts'

/**
 * The description of each argument of each operation, as Markdown. `npm run generate` writes this file from the comments of
 * the request types: change those.
 */
export const argumentDescriptions: Readonly<Record<OperationName, Readonly<Record<string, string>>>> = {
  getUserProgress: {
    account: 'Account identifier of the user.',
    platform: 'Platform where the account exists.',
    pid: 'Campaign ID.',
  },
  rewardWallet: {
    address: 'Ethereum wallet address: `0x` and 40 hex digits.',
    pid: 'Campaign ID.',
    id: 'Your unique identifier of this award. The service accepts it once, so a retry cannot count twice.',
    xp: 'Amount of XP: any finite number. The API description does not say whether 0, negative numbers and fractions are allowed.',
  },
  setReferrer: {
    referrer: 'Account of the referring user.',
    referral: 'Account of the referred user, who must have no referrer and no completed tasks.',
    platform: 'Platform of both accounts.',
    pid: 'Campaign ID.',
  },
  updateUser: {
    account: 'Account identifier of the user.',
    platform: 'Platform where the account exists.',
    pid: 'Campaign ID.',
    name: 'New display name.',
    alias: 'New alias.',
    team: 'New team. In `UserProgress`, an empty string means no team.',
  },
  setReferrerByRefId: {
    account: 'Account of the referred user, who must have no referrer and no completed tasks.',
    platform: 'Platform where the account exists.',
    pid: 'Campaign ID.',
    ref_id: 'Referral link ID. It must exist and belong to another user.',
  },
  recordActionValue: {
    account: 'Account identifier of the user.',
    platform: 'Platform where the account exists.',
    pid: 'Campaign ID.',
    cid: 'Quest ID within the campaign.',
    aid: 'ID of the task to record the value for.',
    value: 'The value to record.',
  },
  getCampaignInfo: { pid: 'Campaign ID.' },
  getCampaignPoints: { pid: 'Campaign ID.' },
  getUserProfiles: {
    account: 'Account identifier of the user.',
    platform: 'Platform where the account exists.',
    pid: 'Campaign ID.',
  },
  getInviteCode: { code: 'The invite code to check.', pid: 'Campaign ID associated with the code.' },
  registerWebhook: {
    scope: 'Kind of events to receive.',
    url: 'URL of your receiver. It must be publicly reachable and accept POST requests.',
    secret: 'Secret that the service uses to sign messages. Without it, messages are unsigned and cannot be verified.',
    hook_id: 'Unique identifier of the webhook.',
  },
}
