/** Random numbers that a printed seed brings back. */
export interface Random {
  /** From 0 to below 1. */
  next(): number
  /** A whole number from 0 to below `end`. */
  below(end: number): number
}

/** Mulberry32, from the seed in CAMPAIGN_TEST_SEED or a new one, which is printed. */
export function randomFor(what: string): Random {
  const seed = Number(process.env.CAMPAIGN_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))
  console.info(`${what}: CAMPAIGN_TEST_SEED=${seed}`)
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { next, below: (end) => Math.floor(next() * end) }
}
