import fc from 'fast-check'
import { expect, it } from 'vitest'
import * as z from 'zod/mini'
import { type $ZodType, safeParse } from 'zod/v4/core'
import { campaignInfo } from '../../src/endpoints/get-campaign-info.ts'
import { userProgress } from '../../src/endpoints/get-user-progress.ts'
import { accepts } from '../../src/schemas/validate.ts'
import { operation } from '../contract/operations.ts'

const { data } = operation('getUserProgress')

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

it('accepts returns true exactly if zod accepts the data unchanged', () => {
  const path = fc.array(fc.nat(15), { minLength: 1, maxLength: 4 })
  const anything = fc.oneof(fc.jsonValue(), fc.constantFrom('1', '-2.5e3', 'x', '', Number.NaN, Infinity, undefined))
  expect(accepts(userProgress, data)).toBe(true)
  fc.assert(
    fc.property(path, fc.boolean(), anything, (at, remove, value) => {
      const changed = withOneChange(data, at, { remove, value })
      const parsed = safeParse<$ZodType>(userProgress, changed)
      expect(accepts(userProgress, changed)).toBe(parsed.success)
      if (parsed.success) expect(changed).toEqual(parsed.data)
    }),
    { numRuns: 500 },
  )
})

it('accepts returns false for a schema that converts numeric strings', () => {
  expect(accepts(campaignInfo, operation('getCampaignInfo').data)).toBe(false)
})

it('accepts applies the checks of an object', () => {
  const ordered = z.looseObject({ from: z.number(), to: z.number() }).check(z.refine(({ from, to }) => from <= to))
  expect(accepts(ordered, { from: 1, to: 2 })).toBe(true)
  expect(accepts(ordered, { from: 2, to: 1 })).toBe(false)
})
