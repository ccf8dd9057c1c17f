import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type $ZodType, safeParse } from 'zod/v4/core'
import { userProgress } from '../../src/endpoints/get-user-progress.ts'
import { INVALID, readUserProgress } from '../../src/schemas/compiled.ts'
import { compileReaders } from './compile-readers.ts'

/** The answer that grows with a campaign and is asked for again and again; zod reads the others fast enough. */
const schemas = { userProgress }
const readers = { userProgress: readUserProgress }

const task = { id: 't', name: 'T', xp: 1, xp_mul: 1, meta: { any: 1 }, status: 'none', extra: true }
const fitting: Record<keyof typeof schemas, object> = {
  userProgress: {
    ...{ id: 'e', user_id: 'u', name: 'U', total: 1, xp: 1, ref_xp: 0, ugc_xp: 0, xp_mul: 1, rank: 1, team: '' },
    actions: [task, { ...task, status: 'new', meta: null }],
    quests: [{ ...task, actions: ['t'] }],
    challenges: [task],
    rewards: [{ id: 'r', reward: 'badge', type: 'nft' }],
  },
}

/** The value with one of its parts, however deep, replaced or removed. */
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

describe('the compiled readers', () => {
  it('are what zod makes of the schemas today (run with -u to write them anew)', async () => {
    await expect(compileReaders(schemas)).toMatchFileSnapshot('../../src/schemas/compiled.ts')
  })

  describe.each(Object.keys(schemas) as (keyof typeof schemas)[])('of %s', (name) => {
    const reader: (input: unknown) => unknown = readers[name]
    const agree = (value: unknown): void => {
      const read = reader(value)
      const parsed = safeParse<$ZodType>(schemas[name], value)
      expect(read !== INVALID).toBe(parsed.success)
      if (parsed.success) expect(read).toEqual(parsed.data)
    }

    it('reads what fits', () => {
      const value = fitting[name]
      expect(reader(value)).not.toBe(INVALID)
      agree(value)
    })

    it('gives the same verdict and value as zod, whichever part is changed', () => {
      const path = fc.array(fc.nat(15), { minLength: 1, maxLength: 4 })
      const anything = fc.oneof(
        fc.jsonValue(),
        fc.constantFrom('1', '-2.5e3', 'x', '', Number.NaN, Infinity, undefined),
      )
      fc.assert(
        fc.property(path, fc.boolean(), anything, (at, remove, value) => {
          agree(withOneChange(fitting[name], at, { remove, value }))
        }),
        { numRuns: 500 },
      )
    })

    it('gives the same verdict as zod on any JSON value', () => {
      fc.assert(
        fc.property(fc.jsonValue(), (value) => {
          agree(value)
        }),
      )
    })
  })
})
