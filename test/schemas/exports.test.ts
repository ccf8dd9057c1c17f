import * as schemas from 'campaign-client/schemas'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { $ZodTypes } from 'zod/v4/core'
import { type AnyEndpoint, endpoints } from '../../src/endpoints/index.ts'
import { contract, operation, operations } from '../contract/operations.ts'
import { exampleActivity } from '../webhook/activity.ts'

const all = Object.entries(schemas) as readonly (readonly [string, z.core.$ZodType])[]

/** Collects examples from a value: one for its schema, and one for each nested schema. */
function collect(schema: z.core.$ZodType, value: unknown, examples: Map<z.core.$ZodType, unknown>): void {
  if (!examples.has(schema)) examples.set(schema, value)
  const { def } = (schema as $ZodTypes)._zod
  if (def.type === 'array') for (const item of value as unknown[]) collect(def.element, item, examples)
  if (def.type !== 'object') return
  for (const [name, inner] of Object.entries(def.shape)) {
    if (Object.hasOwn(value as object, name)) collect(inner, Reflect.get(value as object, name), examples)
  }
}

const examples = new Map<z.core.$ZodType, unknown>()
for (const { name, request, response } of operations) {
  const endpoint: AnyEndpoint = endpoints[name]
  collect(endpoint.request, request, examples)
  if (typeof endpoint.response === 'object') collect(endpoint.response, response.data, examples)
}
collect(schemas.userActivity, exampleActivity({ id: 'm-1' }), examples)

describe('campaign-client/schemas', () => {
  it.each(all)('%s accepts its example, and refuses values of other types', (name, schema) => {
    expect(examples.has(schema), `an example of ${name} in the contract`).toBe(true)
    const value = examples.get(schema) as object
    expect(z.safeParse(schema, value)).toMatchObject({ success: true, data: {} })
    // `userActivity` checks only the types of its required fields.
    const fields = name === 'userActivity' ? ['id', 'user', 'campaign', 'event'] : Object.keys(value)
    const others = [undefined, null, [], 'x', 5, ...(fields.length > 0 ? [{}] : [])]
    for (const other of others) expect(z.safeParse(schema, other).success).toBe(false)
    for (const field of fields) {
      const wrong = { ...value, [field]: Symbol('of no field') }
      expect(z.safeParse(schema, wrong).success, `${name}.${field}`).toBe(false)
    }
  })

  it('has a schema for every request and every documented response', () => {
    const exported = all.map(([, schema]) => schema)
    const requests = Object.values(endpoints).map(({ request }): z.core.$ZodType => request)
    expect(exported).toEqual(expect.arrayContaining(requests))
    expect(new Set(requests).size).toBe(operations.length)
    const answers = Object.values<AnyEndpoint>(endpoints).map(({ response }) => response)
    expect(exported).toEqual(expect.arrayContaining(answers.filter((response) => typeof response === 'object')))
  })

  it("can be combined with a partner's schemas", () => {
    const stored = z.object({ at: z.string(), campaign: z.pipe(z.unknown(), schemas.campaignInfo as never) })
    const { data } = operation('getCampaignInfo')
    expect(z.safeParse(stored, { at: 'now', campaign: data }).success).toBe(true)
    expect(z.safeParse(stored, { at: 'now', campaign: {} }).success).toBe(false)
    expect(z.safeParse(z.array(schemas.inviteCode), [contract.getInviteCode.response.data]).success).toBe(true)
  })
})
