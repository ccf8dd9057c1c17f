import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffLines } from '../../src/console/page/diff.ts'

test('equal lines stand beside each other, and different ones together', () => {
  expect(diffLines(['{', ' a: 1', ' b: 2', '}'], ['{', ' b: 2', ' c: 3', '}'])).toEqual([
    ['{', '{'],
    [' a: 1', undefined],
    [' b: 2', ' b: 2'],
    [undefined, ' c: 3'],
    ['}', '}'],
  ])
  expect(diffLines(['a'], ['b'])).toEqual([['a', 'b']])
})

test('the sides are the two texts, and no fewer lines are equal than without the other lines', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 })
  fc.assert(
    fc.property(lines, lines, (left, right) => {
      const pairs = diffLines(left, right)
      expect(pairs.map(([line]) => line).filter((line) => line !== undefined)).toEqual(left)
      expect(pairs.map(([, line]) => line).filter((line) => line !== undefined)).toEqual(right)
      const equal = pairs.filter(([one, other]) => one === other).length
      expect(equal).toBeGreaterThanOrEqual(left.filter((line, index) => line === right[index]).length)
    }),
  )
})

test('very long texts are compared line by line', () => {
  const long = (name: string) => Array.from({ length: 3000 }, (_, index) => `${name} ${index}`)
  expect(diffLines(long('left'), long('right'))).toHaveLength(3000)
})
