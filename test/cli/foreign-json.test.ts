import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foreignJsonLine, foreignJsonText } from '../../src/cli/output.ts'

describe('foreignJsonLine and foreignJsonText', () => {
  test('print a JSON value unchanged, without control characters', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const text of [foreignJsonLine(value), foreignJsonText(value)]) {
          expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
          expect(text).not.toMatch(/[^\P{Cc}\n]/u)
        }
      }),
    )
  })

  test('print any other value, too', () => {
    const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true })
    fc.assert(fc.property(anything, (value) => void JSON.parse(foreignJsonText(value))))
    const cycle: Record<string, unknown> = { a: 1 }
    cycle.self = [cycle]
    expect(foreignJsonLine(cycle)).toBe('{"a":1,"self":["[contains itself]"]}')
    const twice = { b: 1 }
    expect(foreignJsonLine([twice, twice])).toBe('[{"b":1},{"b":1}]')
    const failing = Object.defineProperty({}, 'a', { enumerable: true, get: () => expect.unreachable() })
    expect(foreignJsonText(failing)).toBe('"[cannot be printed]"')
    expect(foreignJsonLine(undefined)).toBe('"[undefined]"')
  })
})
