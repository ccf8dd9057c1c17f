/**
 * Returns the rank of a total among all totals: 1 for the most XP. Users with equal totals share a rank (assumed).
 *
 * @param ascending - all totals, in ascending order
 */
export function rankOf(total: number, ascending: ArrayLike<number>): number {
  let [first, end] = [0, ascending.length]
  // Binary search for the first total that is greater.
  while (first < end) {
    const middle = (first + end) >> 1
    if ((ascending[middle] as number) > total) end = middle
    else first = middle + 1
  }
  return 1 + ascending.length - first
}
