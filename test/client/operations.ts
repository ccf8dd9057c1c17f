import type { CallOptions, CampaignClient, OperationName } from 'campaign-client'

/** One method of the client, with arguments it accepts. */
export interface Operation {
  readonly name: OperationName
  /** What the contract says of its repeats. */
  readonly rule: 'safe' | 'guarded' | 'unsafe'
  readonly writes: boolean
  /** Data that fits its shape. */
  readonly data: unknown
  readonly run: (client: CampaignClient, options?: CallOptions) => Promise<unknown>
}

const USER = { account: 'alice', platform: 'web', pid: 'demo' }
const totals = { xp: 5, ref_xp: 0, ugc_xp: 0 }

/** Every method, with the repeat rule that the contract gives it: written down here, not read from the catalogue. */
export const operations: readonly Operation[] = [
  {
    name: 'getUserProgress',
    rule: 'safe',
    writes: false,
    data: {
      id: 'e1',
      user_id: 'alice',
      name: 'Alice',
      actions: [],
      quests: [],
      challenges: [],
      rewards: [],
      total: 5,
      ...totals,
      xp_mul: 1,
      rank: 1,
      team: '',
    },
    run: (client, options) => client.getUserProgress(USER, options),
  },
  {
    name: 'getCampaignInfo',
    rule: 'safe',
    writes: false,
    data: { id: 'demo', name: 'Demo', actions: [], quests: [] },
    run: (client, options) => client.getCampaignInfo({ pid: 'demo' }, options),
  },
  {
    name: 'getCampaignPoints',
    rule: 'safe',
    writes: false,
    data: {
      id: 'demo',
      name: 'Demo',
      total_points: 9,
      season_points: 4,
      season_index: 0,
      season: { name: 'first', max_xp: 100 },
    },
    run: (client, options) => client.getCampaignPoints({ pid: 'demo' }, options),
  },
  {
    name: 'getUserProfiles',
    rule: 'safe',
    writes: false,
    data: { user_id: 'alice', ...totals, refs: 0, ref_count: 0, profiles: [] },
    run: (client, options) => client.getUserProfiles(USER, options),
  },
  {
    name: 'getInviteCode',
    rule: 'safe',
    writes: false,
    data: { used_by: [] },
    run: (client, options) => client.getInviteCode({ code: 'c0de', pid: 'demo' }, options),
  },
  {
    name: 'updateUser',
    rule: 'safe',
    writes: true,
    data: {},
    run: (client, options) => client.updateUser({ ...USER, team: 'blue' }, options),
  },
  {
    name: 'rewardWallet',
    rule: 'guarded',
    writes: true,
    data: undefined,
    run: (client, options) =>
      client.rewardWallet({ address: `0x${'ab'.repeat(20)}`, pid: 'demo', id: 'reward-1', xp: 5 }, options),
  },
  {
    name: 'setReferrer',
    rule: 'guarded',
    writes: true,
    data: {},
    run: (client, options) =>
      client.setReferrer({ referrer: 'alice', referral: 'bob', platform: 'web', pid: 'demo' }, options),
  },
  {
    name: 'setReferrerByRefId',
    rule: 'guarded',
    writes: true,
    data: {},
    run: (client, options) => client.setReferrerByRefId({ ...USER, ref_id: 'link-1' }, options),
  },
  {
    name: 'recordActionValue',
    rule: 'unsafe',
    writes: true,
    data: undefined,
    run: (client, options) => client.recordActionValue({ ...USER, cid: 'quest-1', aid: 'task-1', value: 3 }, options),
  },
  {
    name: 'registerWebhook',
    rule: 'unsafe',
    writes: true,
    data: { hook_id: 'hook-1' },
    run: (client, options) =>
      client.registerWebhook({ scope: 'user_activity', url: 'https://partner.example/hook' }, options),
  },
]

/** The operation of that name. */
export function operation(name: OperationName): Operation {
  const found = operations.find((candidate) => candidate.name === name)
  if (found === undefined) throw new Error(`no operation is named ${name}`)
  return found
}
