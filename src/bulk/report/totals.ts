import { addDecimals } from '../../shared/decimals.ts'
import type { Verdict } from '../award/verdict.ts'

/** A verdict, or `'duplicate'` for a row that repeats an earlier row. */
export type Countable = Verdict | 'duplicate'

/** A number for each verdict and for duplicates. */
export type PerVerdict = Readonly<Record<Countable, number>>

/** The number of rows and the sum of their XP, per verdict. */
export class Totals {
  readonly #counts = zeros()
  readonly #xp = zeros()

  add(verdict: Countable, xp: number): void {
    this.#counts[verdict]++
    this.#xp[verdict] = addDecimals(this.#xp[verdict], xp)
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
