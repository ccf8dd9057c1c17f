/** A source of identifiers: the same seed gives the same ones in the same order. */
export interface IdSource {
  /** A new identifier in the form of a UUID. */
  uuid(): string
  /** A new identifier of 12 hex digits behind the prefix. */
  short(prefix: string): string
}

/** Turns text into the 32 bits a generator starts from (FNV-1a). */
const hash = (text: string): number => {
  let bits = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    bits = Math.imul(bits ^ text.charCodeAt(index), 0x01000193)
  }
  return bits >>> 0
}

/** 32 bits per call from a 32-bit state: a Weyl sequence through the finaliser of MurmurHash3. */
const generator = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x9e3779b9) | 0
    let bits = state ^ (state >>> 16)
    bits = Math.imul(bits, 0x85ebca6b)
    bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
    return (bits ^ (bits >>> 16)) >>> 0
  }
}

const hex = (bits: number): string => bits.toString(16).padStart(8, '0')

export function createIdSource(seed: number | string | undefined): IdSource {
  const random = (): number => crypto.getRandomValues(new Uint32Array(1))[0] as number
  // The four words of a UUID come from four generators: one of 32 bits alone would repeat after 2^30 identifiers.
  const words = [0, 1, 2, 3].map((word) => (seed === undefined ? random : generator(hash(`${word}:${seed}`))))
  const draw = (count: number): string => words.slice(0, count).reduce((text, word) => text + hex(word()), '')
  return {
    uuid() {
      const digits = draw(4)
      const variant = ((Number.parseInt(digits.charAt(16), 16) & 3) | 8).toString(16)
      return [
        digits.slice(0, 8),
        digits.slice(8, 12),
        `4${digits.slice(13, 16)}`,
        variant + digits.slice(17, 20),
        digits.slice(20),
      ].join('-')
    },
    short: (prefix) => `${prefix}_${draw(2).slice(0, 12)}`,
  }
}
