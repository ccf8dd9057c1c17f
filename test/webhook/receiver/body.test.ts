import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ByteChunks } from '../../../src/shared/byte-chunks.ts'
import { addChunk } from '../../../src/webhook/receiver/request.ts'

describe('addChunk', () => {
  test('collects the bytes of chunks of any size, and refuses the chunk that exceeds the limit', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 30 }), fc.nat(600), (chunks, maxBytes) => {
        const body = new ByteChunks(maxBytes)
        const kept = chunks.map((chunk) => chunk.slice())
        let length = 0
        for (const chunk of chunks) {
          length += chunk.byteLength
          const failure = addChunk(body, chunk)
          expect(failure).toEqual(length > maxBytes ? { ok: false, reason: 'too_large' } : undefined)
          if (failure) return
        }
        expect(Buffer.from(body.concat())).toEqual(Buffer.concat(kept))
        // The chunks are not changed.
        expect(chunks).toEqual(kept)
      }),
    )
  })

  test('needs at most two bytes of memory per byte for small and empty chunks', () => {
    const body = new ByteChunks(262_144)
    for (let i = 0; i < 100_000; i++) {
      addChunk(body, new Uint8Array())
      addChunk(body, Uint8Array.of(7))
    }
    const bytes = body.concat()
    expect(bytes).toHaveLength(100_000)
    expect(bytes.buffer.byteLength).toBeLessThanOrEqual(200_000)
  })
})
