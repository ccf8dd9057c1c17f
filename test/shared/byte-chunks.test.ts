import { expect, test, vi } from 'vitest'
import { ByteChunks } from '../../src/shared/byte-chunks.ts'

test.each([0, 1, 2, 255, 256, 257, 513, 70_000])('joins %i chunks in order', (count) => {
  const chunks = new ByteChunks(1_000_000)
  const bytes = Array.from({ length: count }, (_, index) => index % 251)
  for (const byte of bytes) chunks.add(Uint8Array.of(byte))
  expect(Array.from(chunks.concat())).toEqual(bytes)
})

test('joins tiny chunks early, so that fewer than 1 000 are left', () => {
  const chunks = new ByteChunks(1_000_000)
  for (let count = 0; count < 100_000; count++) chunks.add(Uint8Array.of(1))
  const copies = vi.spyOn(Uint8Array.prototype, 'set')
  expect(chunks.concat()).toHaveLength(100_000)
  const { length } = copies.mock.calls
  copies.mockRestore()
  expect(length).toBeLessThan(1_000)
})

test('returns a single chunk without a copy', () => {
  const chunks = new ByteChunks(1_000_000)
  const only = Uint8Array.of(1, 2, 3)
  chunks.add(only)
  expect(chunks.concat()).toBe(only)
})

test('a chunk that exceeds the limit is refused and not kept', () => {
  const chunks = new ByteChunks(5)
  expect(chunks.add(Uint8Array.of(1, 2, 3))).toBe(true)
  expect(chunks.add(Uint8Array.of(4, 5))).toBe(true)
  expect(chunks.add(Uint8Array.of(6))).toBe(false)
  expect([...chunks.concat()]).toEqual([1, 2, 3, 4, 5])
})
