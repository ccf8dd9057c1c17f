import { COMMIT, groupSum } from './lines.ts'
import type { LedgerFile } from './storage.ts'

/** Lines that were made durable together, and are as they were written. */
export interface Group {
  /** The lines, each with its \n, without the commit. Valid until the next group is asked for. */
  readonly bytes: Buffer
  /** The number of the first line in the file, from 1. */
  readonly firstLine: number
  /** Where the next group begins. */
  readonly end: number
  /** The sum that the next group goes on from. */
  readonly sum: string
}

/** The ledger is not as it was written. */
export class DamagedLedger extends Error {}

const NEWLINE = 10
const FIRST_BUFFER = 1 << 20
/** What one flush can have written at most, and more than any does. */
const LARGEST_GROUP = 1 << 29
const COMMIT_LINE = /^\{"commit":(\d{1,9}),"sum":"([0-9a-f]{16})"\}$/

/**
 * Gives the complete groups of a ledger, oldest first. What follows the last one is what a crash left of a group that
 * nobody was told of, and is passed over; a group that is not as it was written, with another one after it, is damage.
 *
 * @throws DamagedLedger saying where
 */
export async function* readGroups(file: LedgerFile): AsyncGenerator<Group> {
  let buffer = Buffer.allocUnsafe(FIRST_BUFFER)
  /** The part of the buffer that holds bytes of the file, from where the group begins. */
  let start = 0
  let filled = 0
  let position = 0
  let line = 1
  let sum = ''
  let damagedAt: number | undefined

  /** Where the line being looked at begins, and how many of the group stand before it. */
  let lineStart = 0
  let lines = 0
  let searched = 0
  for (;;) {
    const newline = buffer.subarray(0, filled).indexOf(NEWLINE, searched)
    if (newline === -1) {
      searched = filled
      if (start > 0) {
        buffer.copyWithin(0, start, filled)
        searched -= start
        lineStart -= start
        filled -= start
        start = 0
      }
      if (filled === buffer.length) {
        if (filled >= LARGEST_GROUP) throw damaged(line, 'no group of lines is as long as what begins there')
        const larger = Buffer.allocUnsafe(buffer.length * 2)
        buffer.copy(larger, 0, 0, filled)
        buffer = larger
      }
      const count = await file.read(buffer.subarray(filled), position)
      if (count === 0) return
      position += count
      filled += count
      continue
    }
    searched = newline + 1
    if (!buffer.subarray(lineStart, newline).subarray(0, COMMIT.length).equals(COMMIT)) {
      lines++
      lineStart = newline + 1
      continue
    }

    const commit = COMMIT_LINE.exec(buffer.toString('latin1', lineStart, Math.min(newline, lineStart + 64)))
    if (commit !== null) {
      if (damagedAt !== undefined) throw damaged(damagedAt, 'what follows is not what was written')
      const bytes = buffer.subarray(start, lineStart)
      const [, count, expected] = commit
      if (Number(count) === lines && groupSum(sum, bytes) === expected) {
        sum = expected
        yield { bytes, firstLine: line, end: position - filled + newline + 1, sum }
      } else {
        damagedAt = line
      }
    } else {
      damagedAt ??= line
    }
    line += lines + 1
    lines = 0
    lineStart = newline + 1
    start = lineStart
  }
}

const damaged = (line: number, what: string): DamagedLedger => new DamagedLedger(`from line ${line} on: ${what}`)
