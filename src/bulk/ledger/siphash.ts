/**
 * SipHash with 128 bits of output, over a range of bytes.
 *
 * Ids come from strangers. A hash without a key, or a weaker one with a key, has collisions that can be prepared: two
 * awards that would be taken for one. With 128 bits and a key of this process there is none to be found.
 */
export class SipHash {
  readonly #key: readonly [number, number, number, number]
  readonly #roundsPerBlock: number
  readonly #lastRounds: number

  /**
   * @param key - 16 bytes: random, unless a test compares with published vectors
   * @param rounds - per block and at the end. Those of hash tables elsewhere; the published vectors have `[2, 4]`.
   */
  constructor(key: Uint8Array, rounds: readonly [number, number] = [1, 3]) {
    const view = new DataView(key.buffer, key.byteOffset, 16)
    ;[this.#roundsPerBlock, this.#lastRounds] = rounds
    this.#key = [view.getInt32(0, true), view.getInt32(4, true), view.getInt32(8, true), view.getInt32(12, true)]
  }

  /** Writes the four words of the hash of `bytes[start … end)` to `out`, beginning at `at`. */
  digest(bytes: Uint8Array, start: number, end: number, out: Uint32Array, at = 0): void {
    const [k0, k1, k2, k3] = this.#key
    // Each of the four 64-bit words of the state in two halves.
    let l0 = k0 ^ 0x70736575
    let h0 = k1 ^ 0x736f6d65
    let l1 = k2 ^ 0x6e646f6d ^ 0xee
    let h1 = k3 ^ 0x646f7261
    let l2 = k0 ^ 0x6e657261
    let h2 = k1 ^ 0x6c796765
    let l3 = k2 ^ 0x79746573
    let h3 = k3 ^ 0x74656462

    const length = end - start
    const whole = start + (length & ~7)
    let position = start
    let rounds = 0
    let low = 0
    let high = 0
    // Blocks, then the last one with the length, then the two finalisations: the same rounds for all of them.
    for (let stage = 0; stage < 3; ) {
      if (stage === 0) {
        if (position < whole) {
          low = word(bytes, position)
          high = word(bytes, position + 4)
          position += 8
        } else {
          low = 0
          high = length << 24
          for (let index = 0; position < end; index++, position++) {
            if (index < 4) low |= (bytes[position] as number) << (8 * index)
            else high |= (bytes[position] as number) << (8 * (index - 4))
          }
          stage = 1
        }
        l3 ^= low
        h3 ^= high
        rounds = this.#roundsPerBlock
      } else if (stage === 1) {
        l2 ^= 0xee
        rounds = this.#lastRounds
        stage = 2
      } else {
        out[at] = l0 ^ l1 ^ l2 ^ l3
        out[at + 1] = h0 ^ h1 ^ h2 ^ h3
        l1 ^= 0xdd
        rounds = this.#lastRounds
        stage = 3
      }
      for (; rounds > 0; rounds--) {
        let sum = (l0 + l1) | 0
        h0 = (h0 + h1 + carry(sum, l1)) | 0
        l0 = sum
        let turned = (l1 << 13) | (h1 >>> 19)
        h1 = (h1 << 13) | (l1 >>> 19)
        l1 = turned ^ l0
        h1 ^= h0
        turned = l0
        l0 = h0
        h0 = turned

        sum = (l2 + l3) | 0
        h2 = (h2 + h3 + carry(sum, l3)) | 0
        l2 = sum
        turned = (l3 << 16) | (h3 >>> 16)
        h3 = (h3 << 16) | (l3 >>> 16)
        l3 = turned ^ l2
        h3 ^= h2

        sum = (l0 + l3) | 0
        h0 = (h0 + h3 + carry(sum, l3)) | 0
        l0 = sum
        turned = (l3 << 21) | (h3 >>> 11)
        h3 = (h3 << 21) | (l3 >>> 11)
        l3 = turned ^ l0
        h3 ^= h0

        sum = (l2 + l1) | 0
        h2 = (h2 + h1 + carry(sum, l1)) | 0
        l2 = sum
        turned = (l1 << 17) | (h1 >>> 15)
        h1 = (h1 << 17) | (l1 >>> 15)
        l1 = turned ^ l2
        h1 ^= h2
        turned = l2
        l2 = h2
        h2 = turned
      }
      if (stage < 2) {
        l0 ^= low
        h0 ^= high
      }
    }
    out[at + 2] = l0 ^ l1 ^ l2 ^ l3
    out[at + 3] = h0 ^ h1 ^ h2 ^ h3
  }
}

const word = (bytes: Uint8Array, at: number): number =>
  (bytes[at] as number) |
  ((bytes[at + 1] as number) << 8) |
  ((bytes[at + 2] as number) << 16) |
  ((bytes[at + 3] as number) << 24)

/** 1 where the 32-bit sum of something and `addend` went over, otherwise 0. */
const carry = (sum: number, addend: number): number => (sum >>> 0 < addend >>> 0 ? 1 : 0)
