import type { $ZodObject, $ZodOptional } from 'zod/v4/core'
import { argumentDescriptions } from './argument-descriptions.ts'
import { endpoints, type OperationName, type RequestOf } from './index.ts'

/** An argument of an operation, for help and forms. */
export interface Argument {
  /** The name of the field of the request. */
  readonly name: string
  readonly isNumber: boolean
  readonly isOptional: boolean
  /** Whether the value must not be shown. */
  readonly isSecret: boolean
  /** The comment of the field in the request type, as Markdown. */
  readonly description: string
  readonly example: string | number
}

const SECRETS: ReadonlySet<string> = new Set(['secret'])

/** Returns the arguments of an operation, in the order of its request schema. */
export function argumentsOf(operation: OperationName): readonly Argument[] {
  const { shape } = (endpoints[operation].request as unknown as $ZodObject)._zod.def
  const examples = exampleRequests[operation] as Readonly<Record<string, string | number>>
  return Object.entries(shape).map(([name, schema]) => {
    const isOptional = schema._zod.def.type === 'optional'
    const { type } = isOptional ? (schema as $ZodOptional)._zod.def.innerType._zod.def : schema._zod.def
    const description = argumentDescriptions[operation][name] ?? ''
    const example = examples[name] ?? ''
    return { name, isNumber: type === 'number', isOptional, isSecret: SECRETS.has(name), description, example }
  })
}

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
