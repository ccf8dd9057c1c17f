/** Random numbers from a seed. */
export interface Random {
  /** Returns a number of at least 0 and below 1. */
  next(): number
  /** Returns a whole number of at least 0 and below `end`. */
  below(end: number): number
}

/** Returns Mulberry32 random numbers. The seed is CAMPAIGN_TEST_SEED or a new number. Prints the seed. */
export function randomFor(label: string): Random {
  const seed = Number(process.env.CAMPAIGN_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32))
  console.info(`${label}: CAMPAIGN_TEST_SEED=${seed}`)
  return randomOf(seed)
}

/** Returns Mulberry32 random numbers from a seed. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { next, below: (end) => Math.floor(next() * end) }
}
