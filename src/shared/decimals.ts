/** Matches numeric strings. */
export const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** The number of significant decimal digits that a JavaScript number can always represent. */
export const MAX_DIGITS = 15

/**
 * Adds decimals: the sum of 0.1 and 0.2 is 0.3. Rounds the sum to {@link MAX_DIGITS} digits, so that the
 * errors of binary fractions do not accumulate.
 */
export function addDecimals(one: number, other: number): number {
  const sum = one + other
  return Number.isInteger(sum) ? sum : Number(sum.toPrecision(MAX_DIGITS))
}
