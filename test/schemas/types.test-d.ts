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

test('every schema has an exported type', () => {
  // test/schemas/user-activity.test.ts has the tests of the webhook schema.
  expectTypeOf<Exclude<keyof Schemas, 'userActivity'>>().toEqualTypeOf<keyof Types>()
})

test('the output type of a schema equals its exported type', () => {
  type Assignable = { [Name in keyof Types]: Output<Name> extends Types[Name] ? true : Name }
  expectTypeOf<Assignable[keyof Types]>().toEqualTypeOf<true>()
  // The exported type is also assignable to the output type.
  type Inferable = { [Name in keyof Types]: Types[Name] extends Output<Name> ? true : Name }
  expectTypeOf<Inferable[keyof Types]>().toEqualTypeOf<true>()
  // The type is not `any`, which would match everything.
  type NotAny = { [Name in keyof Types]: 0 extends 1 & Output<Name> ? Name : true }
  expectTypeOf<NotAny[keyof Types]>().toEqualTypeOf<true>()
})

test('an exported type has the fields of its schema', () => {
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

test('a verified webhook payload is assignable to the output type of its schema', () => {
  expectTypeOf<campaign.UserActivity>().toExtend<Output<'userActivity'>>()
})

test('an exported request type is an input type of its schema', () => {
  type Requests = Extract<keyof Types, `${string}Request` | 'webhookRegistration'>
  type Accepted = { [Name in Requests]: Types[Name] extends Input<Name> ? true : Name }
  expectTypeOf<Accepted[Requests]>().toEqualTypeOf<true>()
})

test('numeric strings are accepted as input, and are numbers in the output', () => {
  expectTypeOf<Input<'questDefinition'>['xp_mul']>().toEqualTypeOf<string | number>()
  expectTypeOf<Output<'questDefinition'>['xp_mul']>().toEqualTypeOf<number>()
  expectTypeOf<Output<'taskDefinition'>['ref_xp']>().toEqualTypeOf<number>()
})

test('the output type contains the known values of a status and of a scope', () => {
  expectTypeOf<Output<'taskEntry'>['status']>().toEqualTypeOf<campaign.CompletionStatus>()
  expectTypeOf<Output<'webhookRegistration'>['scope']>().toEqualTypeOf<campaign.WebhookScope>()
})
