import type { OperationName, RequestOf } from './index.ts'

const ADA = { account: 'ada', platform: 'discord', pid: 'demo' }
const LINUS = { ...ADA, account: 'linus' }

/** A request of each operation, which the campaign `demo` of the local service accepts. Help, docs and the console show it. */
export const exampleRequests: { readonly [Name in OperationName]: Readonly<RequestOf<Name>> } = {
  getUserProgress: ADA,
  rewardWallet: {
    address: '0x52908400098527886E0F7030069857D2E4169EE7',
    pid: 'demo',
    // The `rewardId` of this wallet for "launch party": an ID that a second wallet could use would mislead.
    id: 'v1-7a03af3ae8af538af8aad61bd35874ee2989d024',
    xp: 250,
  },
  setReferrer: { referrer: 'ada', referral: 'hedy', platform: 'discord', pid: 'demo' },
  updateUser: { ...LINUS, name: 'Linus', alias: 'penguin', team: 'kernel' },
  setReferrerByRefId: { ...ADA, account: 'mary', ref_id: 'ref-ada' },
  recordActionValue: { ...LINUS, cid: 'welcome', aid: 'connect-wallet', value: 1 },
  getCampaignInfo: { pid: 'demo' },
  getCampaignPoints: { pid: 'demo' },
  getUserProfiles: ADA,
  getInviteCode: { code: 'WELCOME-2026', pid: 'demo' },
  registerWebhook: {
    scope: 'user_activity',
    url: 'https://partner.example/webhooks/campaign',
    secret: 'a-long-random-secret',
    hook_id: 'campaign-events',
  },
}
