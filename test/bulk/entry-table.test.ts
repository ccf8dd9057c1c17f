import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AwardIndex } from '../../src/bulk/ledger/award-index.ts'
import { EntryTable } from '../../src/bulk/ledger/entry-table.ts'
import { SipHash } from '../../src/bulk/ledger/siphash.ts'
import { award } from './setting.ts'

const KEY = Uint8Array.from({ length: 16 }, (_, index) => index)

describe('SipHash', () => {
  const hash = new SipHash(KEY, [2, 4])
  // From the reference implementation: the key is 00 … 0f, the message 00 01 02 … of that many bytes.
  test.each([
    [0, 'a3817f04ba25a8e66df67214c7550293'],
    [1, 'da87c1d86b99af44347659119b22fc45'],
    [2, '8177228da4a45dc7fca38bdef60affe4'],
    [7, 'a1f1ebbed8dbc153c0b84aa61ff08239'],
    [8, '3b62a9ba6258f5610f83e264f31497b4'],
    [15, '5493e99933b0a8117e08ec0f97cfc3d9'],
    [63, '5150d1772f50834a503e069a973fbd7c'],
  ])('%i bytes', (length, expected) => {
    const out = new Uint32Array(4)
    const message = Uint8Array.from({ length: length + 6 }, (_, index) => index - 3)
    hash.digest(message, 3, length + 3, out)
    expect(Buffer.from(out.buffer).toString('hex')).toBe(expected)
  })
})

describe('the index of awards', () => {
  test('knows what a map knows', () => {
    const id = fc.oneof(fc.string({ minLength: 1, unit: 'binary' }), fc.constantFrom('a', '"', '\\', '\\"', ' ', '\n'))
    const step = fc.record({ id, xp: fc.constantFrom(1, 2), pid: fc.constantFrom('demo', 'other'), state: fc.nat(255) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const index = new AwardIndex()
        const known = new Map<string, { entry: number; content: string; state: number }>()
        for (const { id, xp, pid, state } of steps) {
          const row = award(1, { id, xp, pid })
          const found = index.seek(row)
          const expected = known.get(id)
          expect(found).toBe(expected?.entry ?? -1)
          if (expected === undefined) {
            const entry = index.add()
            index.setState(entry, state)
            known.set(id, { entry, content: `${xp} ${pid}`, state })
          } else {
            expect(index.isBound(found)).toBe(expected.content === `${xp} ${pid}`)
            expect(index.state(found)).toBe(expected.state)
          }
        }
        expect(index.size).toBe(known.size)
      }),
    )
  })

  test('takes the same address in either letter case for the same', () => {
    const index = new AwardIndex()
    const address = `0x${'aB'.repeat(20)}`
    index.seek(award(1, { address }))
    const entry = index.add()
    expect(index.seek(award(1, { address: address.toLowerCase() }))).toBe(entry)
    expect(index.isBound(entry)).toBe(true)
    index.seek(award(1, { address: `0x${'aC'.repeat(20)}` }))
    expect(index.isBound(entry)).toBe(false)
  })

  test('tells every change of an award, and no change of the letter case of its address', () => {
    const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: 40, maxLength: 40 })
    const content = fc.record({
      hex,
      pid: fc.string({ minLength: 1, maxLength: 9 }),
      xp: fc.double({ noNaN: true, noDefaultInfinity: true }),
    })
    fc.assert(
      fc.property(content, content, (one, other) => {
        const rowOf = ({ hex, pid, xp }: typeof one) => award(1, { address: `0x${hex}`, pid, xp })
        const index = new AwardIndex()
        index.seek(rowOf(one))
        const entry = index.add()
        const isBound = (row: typeof one) => {
          index.seek(rowOf(row))
          return index.isBound(entry)
        }
        expect(isBound({ ...one, hex: one.hex.toUpperCase() })).toBe(true)
        expect(isBound({ ...one, hex: one.hex.toLowerCase() })).toBe(true)
        for (let digit = 0; digit < 40; digit++) {
          const changed = one.hex[digit] === '0' ? '1' : '0'
          expect(isBound({ ...one, hex: one.hex.slice(0, digit) + changed + one.hex.slice(digit + 1) })).toBe(false)
        }
        expect(isBound({ ...one, xp: other.xp })).toBe(one.xp === other.xp)
        expect(isBound({ ...one, pid: other.pid })).toBe(one.pid === other.pid)
      }),
    )
  })

  test('holds an entry in less than 100 bytes, also while it grows', () => {
    const before = process.memoryUsage().arrayBuffers
    const table = new EntryTable()
    const bytes = Buffer.alloc(8)
    let most = 0
    for (let number = 0; number < 300_000; number++) {
      bytes.writeUInt32LE(number)
      table.find(bytes, 0, 8)
      table.add()
      if (number % 10_000 === 9_999) {
        most = Math.max(most, (process.memoryUsage().arrayBuffers - before) / table.size)
      }
    }
    // Chunks of the first entries are larger than the entries; and what is not collected yet counts here, too.
    expect(most).toBeLessThan(150)
    expect((process.memoryUsage().arrayBuffers - before) / table.size).toBeLessThan(100)
  })
})
