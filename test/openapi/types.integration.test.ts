import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { requestName } from '../../scripts/openapi/document.ts'
import { pathTo } from '../../scripts/repository.ts'
import { operations } from '../contract/operations.ts'
import { compileErrorsOf } from '../docs/compile.ts'
import { skipsWithout } from '../support/skips-without.ts'
import { documentPath, missingTools, openapiTypescript } from './tools.ts'

/** Compares the types that openapi-typescript generates with ours, in both directions. */
const comparison = (): string => `
import type * as ours from 'campaign-client'
import type { components, operations } from './theirs.ts'

type Theirs = components['schemas']
/** Removes index signatures: the document allows unknown fields, our interfaces do not list them. */
type Listed<T> = T extends string | number | boolean | null | undefined ? T
  : T extends readonly (infer Item)[] ? Listed<Item>[]
  : T extends object ? { [Key in keyof T as string extends Key ? never : Key]: Listed<T[Key]> }
  : T
type Same<One, Other> = [Listed<One>] extends [Listed<Other>] ? ([Listed<Other>] extends [Listed<One>] ? true : 'ours is wider') : 'ours is narrower'
type Numeric = 'xp_mul' | 'ref_xp'
/** In responses these are numeric strings, which the client converts to numbers. */
type WithNumericStrings<T> = { [Key in keyof T]: Key extends Numeric ? number | string : T[Key] }
/** Null and absence are documented for some fields of messages. A read message has them as in our types. */
type ReadMessage<T> = T extends readonly unknown[] ? T
  : T extends object ? { [Key in keyof T as Key extends Filled ? never : Key]: ReadMessage<NonNullable<T[Key]> | Extract<T[Key], undefined>> } & { [Key in keyof T as Key extends Filled ? Key : never]-?: NonNullable<T[Key]> }
  : T
/** Empty in our types if the service did not send them. */
type Filled = 'wallet' | 'email' | 'team'
type Body<Name extends keyof operations> = operations[Name] extends { requestBody: { content: { 'application/json': infer Content } } } ? Content : never
type Query<Name extends keyof operations> = operations[Name] extends { parameters: { query: infer Parameters } } ? Parameters : never

${comparisons()}
`

/** Schemas without a type in the package, and schemas whose parts are compared. */
const NOT_COMPARED = new Set([
  ...['StandardError', 'StringError', 'QuestCompletedMessage', 'QuestCompletedActivity'],
  ...['CampaignInfo', 'AcceptedData'],
])
/** Schemas with numeric strings in responses. */
const WITH_NUMERIC_STRINGS = new Set(['TaskDefinition', 'QuestDefinition'])

/** Schemas of messages. */
const MESSAGE_PARTS = new Set(['ActionCompletedMessage', 'ActionCompletedActivity', 'EventAction', 'EventCampaign'])

/** Returns a line for each operation, schema and message. Its type is `true` if both types are the same. */
function comparisons(): string {
  const { components } = JSON.parse(readFileSync(documentPath, 'utf8')) as { components: { schemas: object } }
  const requests = operations.map(({ name, method }) => {
    const theirs = method === 'GET' ? 'Query' : 'Body'
    return [name, `Same<${theirs}<'${name}'>, ours.${requestName(name)}>`]
  })
  const requestNames = new Set(operations.map(({ name }) => requestName(name)))
  const resources = Object.keys(components.schemas)
    .filter((name) => !NOT_COMPARED.has(name) && !requestNames.has(name))
    .map((name) => {
      const own = name === 'ActionCompletedMessage' ? "ours.ActionCompletedEvent['payload']" : `ours.${name}`
      if (MESSAGE_PARTS.has(name)) return [name, `Same<ReadMessage<Theirs['${name}']>, ReadMessage<${own}>>`]
      return [name, `Same<Theirs['${name}'], ${WITH_NUMERIC_STRINGS.has(name) ? `WithNumericStrings<${own}>` : own}>`]
    })
  const lines = [...requests, ...resources]
  return `export const same: { ${lines.map(([name, type]) => `${name}: ${type}`).join('; ')} } = {
    ${lines.map(([name]) => `${name}: true`).join(', ')}
  }`
}

describe.skipIf(skipsWithout('OpenAPI tools', missingTools))(
  'the types that openapi-typescript generates from the document',
  () => {
    let theirs: string

    beforeAll(async () => {
      const { stdout } = await promisify(execFile)(openapiTypescript, [documentPath])
      theirs = stdout
    })

    const compileErrors = (types: string) =>
      compileErrorsOf(
        [
          { path: pathTo('test/openapi/theirs.ts'), source: types, at: 'theirs.ts:1' },
          { path: pathTo('test/openapi/comparison.ts'), source: comparison(), at: 'comparison.ts:1' },
        ],
        // Our types allow `undefined` for an absent field. JSON has no `undefined`.
        { exactOptionalPropertyTypes: false },
      )

    test('are the same as the types of the package', () => {
      expect(compileErrors(theirs)).toEqual([])
    })

    test('differ from the types of the package if a field is missing', () => {
      const withoutRank = theirs.replace(/^ *rank: number;$/m, '')
      expect(withoutRank).not.toBe(theirs)
      expect(compileErrors(withoutRank)).not.toEqual([])
    })
  },
)
