/** A line of two texts side by side; `undefined` where one of them has no such line. */
type DiffLine = readonly [left: string | undefined, right: string | undefined]

/** The table of the comparison has this many cells at most. Longer texts are compared line by line. */
const MAX_CELLS = 4_000_000

/** Pairs the lines of two texts, so that equal lines stand beside each other (longest common subsequence). */
export function diffLines(left: readonly string[], right: readonly string[]): readonly DiffLine[] {
  let start = 0
  while (start < left.length && left[start] === right[start]) start++
  let [leftEnd, rightEnd] = [left.length, right.length]
  while (leftEnd > start && rightEnd > start && left[leftEnd - 1] === right[rightEnd - 1]) {
    leftEnd--
    rightEnd--
  }
  const same = (lines: readonly string[]): DiffLine[] => lines.map((line) => [line, line])
  return [
    ...same(left.slice(0, start)),
    ...diffMiddle(left.slice(start, leftEnd), right.slice(start, rightEnd)),
    ...same(left.slice(leftEnd)),
  ]
}

function diffMiddle(left: readonly string[], right: readonly string[]): DiffLine[] {
  const width = right.length + 1
  if ((left.length + 1) * width > MAX_CELLS) return sideBySide(left, right)
  // Lengths of the longest common subsequence of the rests that start at each pair of lines.
  const lengths = new Uint32Array((left.length + 1) * width)
  const lengthAt = (row: number, column: number): number => lengths[row * width + column] as number
  for (let row = left.length - 1; row >= 0; row--) {
    for (let column = right.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        left[row] === right[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1))
    }
  }
  const lines: DiffLine[] = []
  let [row, column, leftFrom, rightFrom] = [0, 0, 0, 0]
  while (row < left.length && column < right.length) {
    if (left[row] === right[column]) {
      lines.push(...sideBySide(left.slice(leftFrom, row), right.slice(rightFrom, column)), [left[row], right[column]])
      leftFrom = ++row
      rightFrom = ++column
    } else if (lengthAt(row + 1, column) >= lengthAt(row, column + 1)) row++
    else column++
  }
  return [...lines, ...sideBySide(left.slice(leftFrom), right.slice(rightFrom))]
}

const sideBySide = (left: readonly string[], right: readonly string[]): DiffLine[] =>
  Array.from({ length: Math.max(left.length, right.length) }, (_, index) => [left[index], right[index]])
