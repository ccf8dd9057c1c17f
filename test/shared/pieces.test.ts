import { expect, test, vi } from 'vitest'
import { Pieces } from '../../src/shared/pieces.ts'

const joinOf = () => vi.fn((pieces: readonly Uint8Array[]): Uint8Array => Buffer.concat(pieces))

test.each([0, 1, 2, 255, 256, 257, 513, 70_000])('%i pieces are whole, in their order', (count) => {
  const pieces = new Pieces(joinOf())
  const bytes = Array.from({ length: count }, (_, index) => index % 251)
  for (const byte of bytes) pieces.add(Uint8Array.of(byte))
  expect(Array.from(pieces.whole())).toEqual(bytes)
})

test('of a hundred thousand tiny pieces, only some hundreds are ever held', () => {
  const join = joinOf()
  const pieces = new Pieces(join)
  for (let count = 0; count < 100_000; count++) pieces.add(Uint8Array.of(1))
  expect(pieces.whole()).toHaveLength(100_000)
  expect(Math.max(...join.mock.calls.map(([joined]) => joined.length))).toBeLessThan(1_000)
})

test('one alone is not copied', () => {
  const pieces = new Pieces(joinOf())
  const only = Uint8Array.of(1, 2, 3)
  pieces.add(only)
  expect(pieces.whole()).toBe(only)
})
