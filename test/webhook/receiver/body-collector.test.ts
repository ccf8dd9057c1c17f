import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BodyCollector } from '../../../src/webhook/receiver/request.ts'

describe('BodyCollector', () => {
  test('returns the bytes of chunks of any size, and refuses the chunk that exceeds the limit', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 30 }), fc.nat(600), (chunks, maxBytes) => {
        const collector = new BodyCollector(maxBytes)
        const kept = chunks.map((chunk) => chunk.slice())
        let length = 0
        for (const chunk of chunks) {
          length += chunk.byteLength
          const failure = collector.add(chunk)
          expect(failure).toEqual(length > maxBytes ? { ok: false, reason: 'too_large' } : undefined)
          if (failure) return
        }
        expect(Buffer.from(collector.bytes())).toEqual(Buffer.concat(kept))
        // The chunks are not changed.
        expect(chunks).toEqual(kept)
      }),
    )
  })

  test('needs at most two bytes of memory per byte for small and empty chunks', () => {
    const collector = new BodyCollector(262_144)
    for (let i = 0; i < 100_000; i++) {
      collector.add(new Uint8Array())
      collector.add(Uint8Array.of(7))
    }
    const bytes = collector.bytes()
    expect(bytes).toHaveLength(100_000)
    expect(bytes.buffer.byteLength).toBeLessThanOrEqual(200_000)
  })
})
