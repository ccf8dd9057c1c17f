import type * as campaign from 'campaign-client'
import type * as schemas from 'campaign-client/schemas'
import { expectTypeOf, test } from 'vitest'
import type { core } from 'zod'
import type { TypeBySchema } from './type-by-schema.ts'

type Schemas = typeof schemas
type Output<Name extends keyof Schemas> = core.output<Schemas[Name]>
type Input<Name extends keyof Schemas> = core.input<Schemas[Name]>

interface Types extends TypeBySchema {
  acceptedData: campaign.AcceptedData
}

test('there is a type for every schema', () => {
  // test/schemas/user-activity.test.ts has the tests of the webhook schema.
  expectTypeOf<Exclude<keyof Schemas, 'userActivity'>>().toEqualTypeOf<keyof Types>()
})

test('the output of a schema has its type', () => {
  type Assignable = { [Name in keyof Types]: Output<Name> extends Types[Name] ? true : Name }
  expectTypeOf<Assignable[keyof Types]>().toEqualTypeOf<true>()
  // The inferred type also accepts the result of the client.
  type Inferable = { [Name in keyof Types]: Types[Name] extends Output<Name> ? true : Name }
  expectTypeOf<Inferable[keyof Types]>().toEqualTypeOf<true>()
  // The type is not `any`, which would match everything.
  type NotAny = { [Name in keyof Types]: 0 extends 1 & Output<Name> ? Name : true }
  expectTypeOf<NotAny[keyof Types]>().toEqualTypeOf<true>()
})

test('a type has the fields of its schema', () => {
  // Ignore the index signature for unknown fields.
  type Declared<Value> = keyof { [Key in keyof Value as string extends Key ? never : Key]: Value[Key] }
  type SameKeys = {
    [Name in keyof Types]: [Declared<Output<Name>>, Declared<Types[Name]>] extends [
      Declared<Types[Name]>,
      Declared<Output<Name>>,
    ]
      ? true
      : Name
  }
  expectTypeOf<SameKeys[keyof Types]>().toEqualTypeOf<true>()
})

test('a verified webhook payload fits the inferred type of its schema', () => {
  expectTypeOf<campaign.UserActivity>().toExtend<Output<'userActivity'>>()
})

test('a request has the input type of its schema', () => {
  type Requests = Extract<keyof Types, `${string}Request` | 'webhookRegistration'>
  type Taken = { [Name in Requests]: Types[Name] extends Input<Name> ? true : Name }
  expectTypeOf<Taken[Requests]>().toEqualTypeOf<true>()
})

test('numeric strings are input, numbers output', () => {
  expectTypeOf<Input<'questDefinition'>['xp_mul']>().toEqualTypeOf<string | number>()
  expectTypeOf<Output<'questDefinition'>['xp_mul']>().toEqualTypeOf<number>()
  expectTypeOf<Output<'taskDefinition'>['ref_xp']>().toEqualTypeOf<number>()
})

test('the inferred type contains the known values of a status', () => {
  expectTypeOf<Output<'taskEntry'>['status']>().toEqualTypeOf<campaign.CompletionStatus>()
  expectTypeOf<Output<'webhookRegistration'>['scope']>().toEqualTypeOf<campaign.WebhookScope>()
})
