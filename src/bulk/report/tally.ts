import type { Verdict } from '../award/verdict.ts'

/** What a report counts rows by: their verdict, or that an earlier row was the same. */
export type Countable = Verdict | 'duplicate'

/** A number for each verdict, and for duplicates. */
export type PerVerdict = Readonly<Record<Countable, number>>

/** Counts rows and their XP, by verdict. */
export class Tally {
  readonly #counts = zeros()
  readonly #xp = zeros()

  add(verdict: Countable, xp: number): void {
    this.#counts[verdict]++
    this.#xp[verdict] = sumOf(this.#xp[verdict], xp)
  }

  get counts(): PerVerdict {
    return { ...this.#counts }
  }

  get xp(): PerVerdict {
    return { ...this.#xp }
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

/** Decimal digits that a number always holds. */
const DIGITS = 15

/** Adds decimals as people do: 0.1 and 0.2 are 0.3. Rounding each sum keeps binary remainders from adding up. */
function sumOf(sum: number, xp: number): number {
  const next = sum + xp
  return Number.isInteger(next) ? next : Number(next.toPrecision(DIGITS))
}
