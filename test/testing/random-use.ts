import { ConfigurationError } from 'campaign-client'
import type { CampaignSeed, CampaignService } from 'campaign-client/testing'
import fc from 'fast-check'
import { caller } from './rest.ts'

/** Two campaigns for the random calls of `steps`. */
export const campaigns: readonly CampaignSeed[] = [
  {
    id: 'one',
    name: 'One',
    actions: [
      { id: 'a', xp: 3, ref_xp: 1, meta: { icon: 'star', deep: [{ n: 1 }] } },
      { id: 'b', xp: 0.1, xp_mul: 1.5, deps: ['a'] },
      { id: 'again', recurrence: 'daily', xp: 2 },
      { id: 'extra', is_optional: true },
    ],
    quests: [{ id: 'q', actions: ['a', 'b', 'extra'], xp: 10 }],
    challenges: [{ id: 'c', deps: ['q', 'again'], xp: 7 }],
    users: [
      { account: 'ada', platform: 'discord', wallet: `0x${'a'.repeat(40)}`, xp_mul: 2, ref_id: 'link-ada' },
      {
        account: 'bob',
        platform: 'telegram',
        profiles: [{ account: 'bob', platform: 'discord' }],
        email: 'b@x.example',
        ref_id: 'link-bob',
      },
    ],
    invite_codes: [{ code: 'in', used_by: ['ada'] }],
  },
  { id: 'two', organization: 'other', actions: [{ id: 'a' }], quests: [{ id: 'q', actions: ['a'] }] },
]

const pid = fc.constantFrom('one', 'two', 'none')
const platform = fc.constantFrom('discord', 'telegram', 'ethereum')
const address = fc.constantFrom(...['a', 'b', 'C', 'c'].map((digit) => `0x${digit.repeat(40)}`))
const account = fc.oneof(fc.constantFrom('ada', 'bob', 'eve', 'mallory', '', `0X${'C'.repeat(40)}`), address)
const user = { account, platform, pid }
const aid = fc.constantFrom('a', 'b', 'again', 'extra')
const url = fc.constantFrom('https://partner.example/1', 'https://partner.example/2')

/** A random call. The service refuses many of them. */
const step = fc.oneof(
  fc.record({
    path: fc.constant('/wallet/reward'),
    body: fc.record({
      address,
      pid,
      id: fc.string({ minLength: 1, maxLength: 2 }),
      xp: fc.double({ noNaN: true, min: -1e6, max: 1e6 }),
    }),
  }),
  fc.record({
    path: fc.constant('/user/referrer'),
    body: fc.record({ referrer: account, referral: account, platform, pid }),
  }),
  fc.record({
    path: fc.constant('/user/ref_id'),
    body: fc.record({ ...user, ref_id: fc.constantFrom('link-ada', 'link-bob', 'link-eve') }),
  }),
  fc.record({
    path: fc.constant('/user'),
    body: fc.record(
      { ...user, name: fc.string(), team: fc.constantFrom('red', '') },
      { requiredKeys: ['account', 'platform', 'pid'] },
    ),
  }),
  fc.record({
    path: fc.constant('/action/value'),
    body: fc.record({ ...user, cid: fc.constant('q'), aid, value: fc.integer() }),
  }),
  fc.record({
    path: fc.constant('/webhook'),
    body: fc.record(
      {
        scope: fc.constant('user_activity'),
        url,
        secret: fc.constant('s3cret'),
        hook_id: fc.constantFrom('h1', 'hook_s_9'),
      },
      { requiredKeys: ['scope', 'url'] },
    ),
  }),
  fc.record({ task: fc.record({ ...user, aid }) }),
)

export const steps = fc.array(step, { maxLength: 30 })

export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** Makes the calls in order and waits for the deliveries. */
export async function run(service: CampaignService, calls: readonly Step[]): Promise<void> {
  const { post } = caller(service.fetch)
  for (const call of calls) {
    if ('path' in call) await post(call.path, call.body)
    else completeIfPossible(service, call.task)
  }
  await service.settle()
}

function completeIfPossible(service: CampaignService, task: Parameters<CampaignService['completeTask']>[0]): void {
  try {
    service.completeTask(task)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
  }
}
