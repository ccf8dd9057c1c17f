import type { Verdict } from '../../award/verdict.ts'
import type { AwardIndex } from '../award-index.ts'
import { endOfText, INTENT } from '../award-index.ts'
import { afterIntent, afterRelease, afterVerdict } from '../state.ts'
import { DamagedLedger, type Group } from './groups.ts'
import { RELEASED, TIME_LENGTH, VERDICT } from './lines.ts'

const NEWLINE = 10
/** Between the name of a verdict and its id. */
export const BEFORE_ID = '","id":"'.length
const AFTER_CONTENT = ',"at":""}'.length + TIME_LENGTH
const VERDICTS: ReadonlySet<string> = new Set<Verdict>([
  'awarded',
  'alreadyAwarded',
  'unconfirmed',
  'rejected',
  'indeterminate',
])

/** Calls `take` with the range of each line of a group, and its number in the file. */
export function eachLine(group: Group, take: (start: number, end: number, line: number) => void): void {
  const { bytes } = group
  let start = 0
  for (let line = group.firstLine; start < bytes.length; line++) {
    const end = bytes.indexOf(NEWLINE, start)
    take(start, end, line)
    start = end + 1
  }
}

/**
 * Applies one line after the header to the index.
 *
 * @returns the entry it is about
 * @throws DamagedLedger when it is none of the lines there are
 */
export function applyLine(index: AwardIndex, bytes: Buffer, start: number, end: number, line: number): number {
  if (begins(bytes, start, INTENT)) {
    const found = index.seekIntent(bytes, start, end - AFTER_CONTENT)
    const entry = found === -1 ? index.add() : found
    if (found !== -1) index.bind(entry)
    index.setState(entry, afterIntent(index.state(entry)))
    return entry
  }
  if (begins(bytes, start, VERDICT)) {
    const from = start + VERDICT.length
    const named = endOfText(bytes, from, end)
    const verdict = bytes.toString('latin1', from, named)
    if (VERDICTS.has(verdict)) {
      const entry = knownEntry(index, bytes, named + BEFORE_ID, end, line)
      index.setState(entry, afterVerdict(index.state(entry), verdict as Verdict))
      return entry
    }
  }
  if (begins(bytes, start, RELEASED)) {
    const entry = knownEntry(index, bytes, start + RELEASED.length, end, line)
    index.setState(entry, afterRelease(index.state(entry)))
    return entry
  }
  throw new DamagedLedger(`line ${line} is none that this version writes`)
}

function knownEntry(index: AwardIndex, bytes: Buffer, start: number, end: number, line: number): number {
  const entry = index.seekId(bytes, start, end)
  if (entry === -1) throw new DamagedLedger(`line ${line} is about an id that no line before it has`)
  return entry
}

function begins(bytes: Uint8Array, start: number, prefix: Uint8Array): boolean {
  for (let index = 0; index < prefix.length; index++) if (bytes[start + index] !== prefix[index]) return false
  return true
}
