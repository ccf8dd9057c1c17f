import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { type $ZodType, safeParse } from 'zod/v4/core'
import { checksOf } from '../../scripts/generators/compiled-checks.ts'
import { userProgress } from '../../src/endpoints/get-user-progress.ts'
import { isUserProgress } from '../../src/schemas/compiled-checks.ts'

const schemas = { userProgress }
const checks = { userProgress: isUserProgress }

const task = { id: 't', name: 'T', xp: 1, xp_mul: 1, meta: { any: 1 }, status: 'none', extra: true }
const valid: Record<keyof typeof schemas, object> = {
  userProgress: {
    ...{ id: 'e', user_id: 'u', name: 'U', total: 1, xp: 1, ref_xp: 0, ugc_xp: 0, xp_mul: 1, rank: 1, team: '' },
    actions: [task, { ...task, status: 'new', meta: null }],
    quests: [{ ...task, actions: ['t'] }],
    challenges: [task],
    rewards: [{ id: 'r', reward: 'badge', type: 'nft' }],
  },
}

/** Returns the value with one part replaced or removed, at any depth. */
function withOneChange(value: unknown, at: number[], change: { remove: boolean; value: unknown }): unknown {
  const [first, ...rest] = at
  if (first === undefined || typeof value !== 'object' || value === null) return change.value
  const keys = Object.keys(value)
  const key = keys[first % Math.max(1, keys.length)]
  if (key === undefined) return change.value
  const copy: unknown = Array.isArray(value) ? [...value] : { ...value }
  if (change.remove && rest.length === 0) Reflect.deleteProperty(copy as object, key)
  else Reflect.set(copy as object, key, withOneChange(Reflect.get(value, key), rest, change))
  return copy
}

describe('the compiled checks', () => {
  it.each([
    ['a check', z.looseObject({ name: z.string().check(z.minLength(1)) }), /^wholeName: .* type string/],
    ['a transform', z.looseObject({ when: z.pipe(z.string(), z.transform(Number)) }), /^wholeWhen: .* type pipe/],
    ['a strict object', z.strictObject({ name: z.string() }), /^whole: .* type object/],
    [
      'an unsupported type in a nested object',
      z.looseObject({ list: z.array(z.looseObject({ at: z.date() })) }),
      /^wholeListItemAt: /,
    ],
  ])('cannot be generated for a schema with %s', (_, schema, message) => {
    expect(() => checksOf({ whole: schema })).toThrow(message)
  })

  describe.each(Object.keys(schemas) as (keyof typeof schemas)[])('of %s', (name) => {
    const isValid = checks[name]
    const expectAgreement = (value: unknown): void => {
      const before = structuredClone(value)
      const parsed = safeParse<$ZodType>(schemas[name], value)
      expect(isValid(value)).toBe(parsed.success)
      if (parsed.success) expect(value).toEqual(parsed.data)
      expect(value).toEqual(before)
    }

    it('accept valid data', () => {
      const value = valid[name]
      expect(isValid(value)).toBe(true)
      expectAgreement(value)
    })

    it('agree with zod about valid data with one changed part', () => {
      const path = fc.array(fc.nat(15), { minLength: 1, maxLength: 4 })
      const anything = fc.oneof(
        fc.jsonValue(),
        fc.constantFrom('1', '-2.5e3', 'x', '', Number.NaN, Infinity, undefined),
      )
      fc.assert(
        fc.property(path, fc.boolean(), anything, (at, remove, value) => {
          expectAgreement(withOneChange(valid[name], at, { remove, value }))
        }),
        { numRuns: 500 },
      )
    })

    it('refuse sparse arrays, as zod does', () => {
      // biome-ignore lint/suspicious/noSparseArray: the test needs a sparse array
      expectAgreement({ ...valid[name], actions: [task, , task] })
    })

    it('agree with zod about any JSON value', () => {
      fc.assert(
        fc.property(fc.jsonValue(), (value) => {
          expectAgreement(value)
        }),
      )
    })
  })
})
