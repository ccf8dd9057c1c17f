/**
 * The operations as the interface describes them. Written by hand from the interface, not from the source, so that tests can
 * compare both. Facts that the interface does not show are marked `assumed` or `not shown`.
 */
import type { CallOptions, CampaignClient, OperationName } from 'campaign-client'

/**
 * The type of a request field. A question mark means optional.
 * - `identifier`: any non-empty text.
 * - `text`: any text.
 * - `address`: `0x` and 40 hex digits.
 * - `number`: any finite number.
 * - `url`: absolute, http or https.
 */
export type FieldKind = 'identifier' | 'identifier?' | 'text?' | 'address' | 'number' | 'url'

/** An operation of the interface. */
export interface OperationContract {
  readonly method: 'GET' | 'POST'
  /** Path relative to the base URL; `'not shown'` if the interface does not show it. */
  readonly path: `/${string}` | 'not shown'
  /** The fields in the query (GET) or the body (POST), in order. */
  readonly fields: Readonly<Record<string, FieldKind>>
  /** Set if the interface does not show the query names. The field names are then assumed; `queryNames` changes them. */
  readonly queryNames?: 'assumed'
  /** The effect of a retry: the same state (`safe`), a refusal (`guarded`), or a second count (`unsafe`). */
  readonly retry: 'safe' | 'guarded' | 'unsafe'
  /** The statuses and the string errors that the interface shows. */
  readonly errors: { readonly statuses: readonly number[]; readonly strings?: readonly string[] } | 'not shown'
  /** A request that the campaign `demo` of the local service accepts. */
  readonly request: Readonly<Record<string, unknown>>
  /** The exact query of that request with its question mark, or its exact body. */
  readonly sent: string
  /** The body of a successful response, with an example of every kind of entry. */
  readonly response: { readonly success: true; readonly data?: unknown }
  /** The result of a call with that response. */
  readonly result: unknown
}

const ADA = { account: 'ada', platform: 'discord', pid: 'demo' }
const USER = { account: 'identifier', platform: 'identifier', pid: 'identifier' } as const
const STANDARD_ERRORS = { statuses: [400, 401, 403, 500] } as const

/** A response whose data is not converted. */
const unconverted = <Data>(data: Data) => ({ response: { success: true, data }, result: data }) as const
/** A response without data. */
const NO_DATA = { response: { success: true }, result: undefined } as const

const entry = { name: 'Follow', xp: 10, xp_mul: 1, meta: { link: 'https://demo.example' } }
const taskDefinition = { id: 'follow', name: 'Follow', type: 'social', recurrence: 'once', xp: 10, meta: {}, deps: [] }
const questDefinition = { id: 'welcome', name: 'Welcome', actions: ['follow'], xp: 50, meta: {}, deps: ['intro'] }

/** All operations by method name, in the order of the interface. */
export const contract = {
  getUserProgress: {
    method: 'GET',
    path: '/user/progress',
    fields: USER,
    retry: 'safe',
    errors: STANDARD_ERRORS,
    request: ADA,
    sent: '?account=ada&platform=discord&pid=demo',
    ...unconverted({
      id: 'entry-1',
      user_id: 'ada',
      name: 'Ada',
      actions: [
        { ...entry, id: 'follow', status: 'completed' },
        { ...entry, id: 'share', status: 'none', meta: null },
      ],
      quests: [{ ...entry, id: 'welcome', status: 'none', actions: ['follow', 'share'] }],
      challenges: [{ ...entry, id: 'marathon', status: 'none' }],
      rewards: [{ id: 'reward-1', reward: '1000', type: 'xp' }],
      total: 17,
      xp: 10,
      ref_xp: 5,
      ugc_xp: 2,
      xp_mul: 1.5,
      rank: 1,
      team: '',
    }),
  },
  rewardWallet: {
    method: 'POST',
    path: '/wallet/reward',
    fields: { address: 'address', pid: 'identifier', id: 'identifier', xp: 'number' },
    retry: 'guarded',
    errors: STANDARD_ERRORS,
    request: {
      address: '0x52908400098527886E0F7030069857D2E4169EE7',
      pid: 'demo',
      id: 'v1-7a03af3ae8af538af8aad61bd35874ee2989d024',
      xp: 250,
    },
    sent: '{"address":"0x52908400098527886E0F7030069857D2E4169EE7","pid":"demo","id":"v1-7a03af3ae8af538af8aad61bd35874ee2989d024","xp":250}',
    ...NO_DATA,
  },
  setReferrer: {
    method: 'POST',
    path: '/user/referrer',
    fields: { referrer: 'identifier', referral: 'identifier', platform: 'identifier', pid: 'identifier' },
    retry: 'guarded',
    errors: { ...STANDARD_ERRORS, strings: ['missing_user', 'self_referral_not_allowed'] },
    request: { referrer: 'ada', referral: 'hedy', platform: 'discord', pid: 'demo' },
    sent: '{"referrer":"ada","referral":"hedy","platform":"discord","pid":"demo"}',
    ...unconverted({}),
  },
  updateUser: {
    method: 'POST',
    path: '/user',
    fields: { ...USER, name: 'text?', alias: 'text?', team: 'text?' },
    retry: 'safe',
    errors: STANDARD_ERRORS,
    request: { account: 'linus', platform: 'discord', pid: 'demo', name: 'Linus', alias: 'penguin', team: 'kernel' },
    sent: '{"account":"linus","platform":"discord","pid":"demo","name":"Linus","alias":"penguin","team":"kernel"}',
    ...unconverted({}),
  },
  setReferrerByRefId: {
    method: 'POST',
    path: '/user/ref_id',
    fields: { ...USER, ref_id: 'identifier' },
    retry: 'guarded',
    errors: STANDARD_ERRORS,
    request: { account: 'mary', platform: 'discord', pid: 'demo', ref_id: 'ref-ada' },
    sent: '{"account":"mary","platform":"discord","pid":"demo","ref_id":"ref-ada"}',
    ...unconverted({}),
  },
  recordActionValue: {
    method: 'POST',
    path: '/action/value',
    fields: { ...USER, cid: 'identifier', aid: 'identifier', value: 'number' },
    retry: 'unsafe',
    errors: 'not shown',
    request: { account: 'linus', platform: 'discord', pid: 'demo', cid: 'welcome', aid: 'connect-wallet', value: 1 },
    sent: '{"account":"linus","platform":"discord","pid":"demo","cid":"welcome","aid":"connect-wallet","value":1}',
    ...NO_DATA,
  },
  getCampaignInfo: {
    method: 'GET',
    path: '/campaign/info',
    fields: { pid: 'identifier' },
    queryNames: 'assumed',
    retry: 'safe',
    errors: 'not shown',
    request: { pid: 'demo' },
    sent: '?pid=demo',
    response: {
      success: true,
      data: {
        id: 'demo',
        name: 'Demo',
        actions: [{ ...taskDefinition, ref_xp: '3', xp_mul: '1.5', is_optional: false }],
        quests: [{ ...questDefinition, xp_mul: '2' }],
      },
    },
    result: {
      id: 'demo',
      name: 'Demo',
      actions: [{ ...taskDefinition, ref_xp: 3, xp_mul: 1.5, is_optional: false }],
      quests: [{ ...questDefinition, xp_mul: 2 }],
    },
  },
  getCampaignPoints: {
    method: 'GET',
    path: '/campaign/points',
    fields: { pid: 'identifier' },
    queryNames: 'assumed',
    retry: 'safe',
    errors: 'not shown',
    request: { pid: 'demo' },
    sent: '?pid=demo',
    ...unconverted({
      id: 'demo',
      name: 'Demo',
      total_points: 1265,
      season_points: 265,
      season_index: 1,
      season: { name: 'Summer', max_xp: 5000 },
    }),
  },
  getUserProfiles: {
    method: 'GET',
    path: '/user/profiles',
    fields: USER,
    queryNames: 'assumed',
    retry: 'safe',
    errors: STANDARD_ERRORS,
    request: ADA,
    sent: '?account=ada&platform=discord&pid=demo',
    ...unconverted({
      user_id: 'ada',
      xp: 10,
      ref_xp: 5,
      ugc_xp: 2,
      refs: 1,
      ref_count: 1,
      profiles: [{ account: 'ada', platform: 'discord' }],
    }),
  },
  getInviteCode: {
    method: 'GET',
    path: '/code',
    fields: { code: 'identifier', pid: 'identifier' },
    queryNames: 'assumed',
    retry: 'safe',
    errors: STANDARD_ERRORS,
    request: { code: 'WELCOME-2026', pid: 'demo' },
    sent: '?code=WELCOME-2026&pid=demo',
    ...unconverted({ used_by: ['ada', 'grace'] }),
  },
  registerWebhook: {
    method: 'POST',
    path: 'not shown',
    fields: { scope: 'identifier', url: 'url', secret: 'identifier?', hook_id: 'identifier?' },
    retry: 'unsafe',
    errors: 'not shown',
    request: {
      scope: 'user_activity',
      url: 'https://partner.example/webhooks/campaign',
      secret: 'a-long-random-secret',
      hook_id: 'campaign-events',
    },
    sent: '{"scope":"user_activity","url":"https://partner.example/webhooks/campaign","secret":"a-long-random-secret","hook_id":"campaign-events"}',
    ...unconverted({ hook_id: 'campaign-events' }),
  },
} as const satisfies Readonly<Record<OperationName, OperationContract>>

/** An operation and functions that call it. */
export interface Operation extends OperationContract {
  readonly name: OperationName
  readonly writes: boolean
  /** The data of the example response. */
  readonly data: unknown
  /** Calls the method with the example request. */
  readonly run: (client: CampaignClient, options?: CallOptions) => Promise<unknown>
}

/** Calls a method by its name with any arguments. */
export function invoke(
  client: CampaignClient,
  name: OperationName,
  argument: unknown,
  options?: unknown,
): Promise<unknown> {
  return (client[name] as (argument: unknown, options?: unknown) => Promise<unknown>).call(client, argument, options)
}

/** All operations in the order of the interface. */
export const operations: readonly Operation[] = (
  Object.entries(contract) as readonly (readonly [OperationName, OperationContract])[]
).map(([name, row]) => ({
  ...row,
  name,
  writes: row.method === 'POST',
  data: row.response.data,
  run: (client, options) => invoke(client, name, row.request, options),
}))

/** Returns an operation by name. */
export function operation(name: OperationName): Operation {
  const found = operations.find((candidate) => candidate.name === name)
  if (found === undefined) throw new Error(`test/contract/operations.ts has no row for ${name}`)
  return found
}
