import type { CallOptions, CampaignClientOptions } from 'campaign-client'
import type * as schemas from 'campaign-client/schemas'
import {
  type ActionCompletedData,
  type ActionCompletedEvent,
  diagnoseWebhook,
  type EventAction,
  type EventCampaign,
  type Finding,
  type Issue,
  isTestMessage,
  type MemoryStoreOptions,
  parseWebhook,
  safeParseWebhook,
  signWebhook,
  type UserActivity,
  verifyWebhook,
  type WebhookErrorCode,
  type WebhookEvent,
  type WebhookReceiverOptions,
} from 'campaign-client/webhook'
import { describe, expectTypeOf, test } from 'vitest'
import type { core } from 'zod'

const secret: string = 'whsec_x'
const body: string = '{}'
const header: string | null = 'x'

describe('verifyWebhook', () => {
  test('returns a boolean, not a promise', () => {
    expectTypeOf(verifyWebhook(secret, body, header)).toEqualTypeOf<boolean>()
    expectTypeOf(signWebhook(secret, body)).toEqualTypeOf<string>()
    expectTypeOf(diagnoseWebhook(secret, body, header)).toEqualTypeOf<Finding[]>()
  })

  test('accepts the header types of runtimes', () => {
    verifyWebhook(new Uint8Array(), Buffer.from(''), undefined)
    verifyWebhook([secret, new Uint8Array()], new ArrayBuffer(1), ['x'])
    verifyWebhook([secret] as const, new Uint8Array(), ['x'] as const)
    verifyWebhook(secret, Buffer.from(''), {} as string | string[] | undefined)
  })

  test('refuses wrong arguments', () => {
    // @ts-expect-error a parsed body
    verifyWebhook(secret, { id: 'x' }, header)
    // @ts-expect-error a variable that may be undefined
    verifyWebhook(process.env.SECRET, body, header)
    // @ts-expect-error the promise of a body
    verifyWebhook(secret, new Request('http://x').text(), header)
    // @ts-expect-error no such option
    verifyWebhook(secret, body, header, { algorithm: 'sha1' })
  })
})

describe('WebhookEvent', () => {
  const event: WebhookEvent = parseWebhook(secret, body, header)

  test('narrows on kind', () => {
    expectTypeOf(event.id).toEqualTypeOf<string>()
    switch (event.kind) {
      case 'action_completed':
        expectTypeOf(event).toEqualTypeOf<ActionCompletedEvent>()
        expectTypeOf(event.payload).toExtend<UserActivity>()
        expectTypeOf(event.payload.event.data.xp).toEqualTypeOf<number>()
        expectTypeOf(event.payload.event.data.action.id).toEqualTypeOf<string>()
        break
      case 'quest_completed':
        expectTypeOf(event.payload).toExtend<UserActivity>()
        expectTypeOf(event.payload.total_xp).toEqualTypeOf<number | undefined>()
        expectTypeOf(event.payload.event.data.xp).toEqualTypeOf<number | undefined>()
        expectTypeOf(event.payload.event.data.quest).toEqualTypeOf<unknown>()
        break
      case 'unknown':
        expectTypeOf(event.payload).toEqualTypeOf<Record<string, unknown>>()
        expectTypeOf(event.scope).toEqualTypeOf<string | undefined>()
        break
      default:
        expectTypeOf(event).toEqualTypeOf<never>()
    }
  })

  test('a message of either known kind is a UserActivity', () => {
    if (event.kind === 'unknown') return
    expectTypeOf(event.payload).toExtend<UserActivity>()
    expectTypeOf(event.payload.campaign).toEqualTypeOf<{ id: string; name?: string }>()
    if (event.payload.event.type === 'action_completed') {
      expectTypeOf(event.payload.event.data.xp).toEqualTypeOf<number>()
    }
  })

  test('every event has issues', () => {
    expectTypeOf(event.issues).toEqualTypeOf<readonly Issue[]>()
    expectTypeOf(isTestMessage(event)).toEqualTypeOf<boolean>()
  })

  test('the fields that a handler acts on are always there', () => {
    type Optional<Value> = { [Name in keyof Value]-?: object extends Pick<Value, Name> ? Name : never }[keyof Value]
    expectTypeOf<Optional<UserActivity>>().toEqualTypeOf<
      'user_id' | 'total_xp' | 'ref_xp' | 'ugc_xp' | 'xp_mul' | 'rank'
    >()
    expectTypeOf<Optional<EventCampaign>>().toEqualTypeOf<'name'>()
    expectTypeOf<Optional<EventAction>>().toEqualTypeOf<'name' | 'type' | 'meta'>()
    expectTypeOf<Optional<ActionCompletedData>>().toEqualTypeOf<'account'>()
  })

  test('without narrowing, the payload is not a UserActivity', () => {
    // @ts-expect-error it may be an unknown message
    const payload: UserActivity = event.payload
    expectTypeOf(payload).not.toBeAny()
  })
})

test('safeParseWebhook narrows on ok', () => {
  const result = safeParseWebhook(secret, body, header)
  if (result.ok) {
    expectTypeOf(result.event).toEqualTypeOf<WebhookEvent>()
    expectTypeOf(result.secretIndex).toEqualTypeOf<number>()
  } else {
    expectTypeOf(result.reason).toEqualTypeOf<WebhookErrorCode>()
  }
})

test('every optional option may be undefined', () => {
  type OptionalName<Options> = {
    [Name in keyof Options]-?: object extends Pick<Options, Name> ? Name : never
  }[keyof Options]
  type WithoutUndefined<Options> = {
    [Name in OptionalName<Options>]: Record<Name, undefined> extends Pick<Options, Name> ? never : Name
  }[OptionalName<Options>]
  expectTypeOf<WithoutUndefined<{ a?: string }>>().toEqualTypeOf<'a'>()
  expectTypeOf<WithoutUndefined<WebhookReceiverOptions>>().toEqualTypeOf<never>()
  expectTypeOf<WithoutUndefined<MemoryStoreOptions>>().toEqualTypeOf<never>()
  expectTypeOf<WithoutUndefined<CampaignClientOptions>>().toEqualTypeOf<never>()
  expectTypeOf<WithoutUndefined<CallOptions>>().toEqualTypeOf<never>()
})

test('the schema of a UserActivity has the type UserActivity', () => {
  type Schema = core.output<typeof schemas.userActivity>
  expectTypeOf<Schema>().toEqualTypeOf<UserActivity>()
})
