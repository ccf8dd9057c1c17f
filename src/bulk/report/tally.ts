import type { Verdict } from '../award/verdict.ts'

/** What a report counts rows by: their verdict, or that an earlier row was the same. */
export type Countable = Verdict | 'duplicate'

export const COUNTABLES: readonly Countable[] = [
  'awarded',
  'alreadyAwarded',
  'unconfirmed',
  'rejected',
  'indeterminate',
  'duplicate',
]

/** A number for each verdict, and for duplicates. */
export type PerVerdict = Readonly<Record<Countable, number>>

/** Counts rows and their XP, by verdict. */
export class Tally {
  readonly #counts = zeros()
  readonly #sums = zeros()
  /** What the sums have lost to rounding: floating-point XP add up to what they should. */
  readonly #lost = zeros()

  add(verdict: Countable, xp: number): void {
    this.#counts[verdict]++
    // The compensated sum of Neumaier.
    const sum = this.#sums[verdict]
    const next = sum + xp
    this.#lost[verdict] += Math.abs(sum) >= Math.abs(xp) ? sum - next + xp : xp - next + sum
    this.#sums[verdict] = next
  }

  get counts(): PerVerdict {
    return { ...this.#counts }
  }

  get xp(): PerVerdict {
    const xp = zeros()
    for (const name of COUNTABLES) {
      const sum = this.#sums[name]
      // Beyond all numbers nothing is lost, and the difference of two infinities is no number.
      xp[name] = Number.isFinite(sum) ? sum + this.#lost[name] : sum
    }
    return xp
  }
}

const zeros = (): Record<Countable, number> => ({
  awarded: 0,
  alreadyAwarded: 0,
  unconfirmed: 0,
  rejected: 0,
  indeterminate: 0,
  duplicate: 0,
})
