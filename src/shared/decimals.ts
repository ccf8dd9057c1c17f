/** How many significant decimal digits a JavaScript number always keeps. */
export const MAX_DIGITS = 15

/**
 * Adds decimals as people do: 0.1 and 0.2 are 0.3. Each sum is rounded to {@link MAX_DIGITS} digits, so that the errors of
 * binary fractions do not add up.
 */
export function addDecimals(one: number, other: number): number {
  const sum = one + other
  return Number.isInteger(sum) ? sum : Number(sum.toPrecision(MAX_DIGITS))
}
