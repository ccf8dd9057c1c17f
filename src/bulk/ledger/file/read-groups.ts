import { COMMIT_LINE, COMMIT_START, MAX_COMMIT_BYTES, sumOf } from './format.ts'
import type { LedgerFile } from './storage.ts'

/** Lines that were flushed together. */
export interface Group {
  /** The lines without their line breaks. */
  readonly lines: readonly string[]
  /** The line number of the first line, from 1. */
  readonly firstLine: number
  readonly end: LedgerEnd
}

/** The end of the last intact group, where the next group is appended. */
export interface LedgerEnd {
  readonly position: number
  /** The sum of the last group. */
  readonly sum: string
}

const CHUNK_BYTES = 1 << 20

/**
 * Yields the groups of a ledger, oldest first. Ignores an incomplete write at the end of the file. Fails if another group
 * follows the broken bytes: they were flushed before, so the ledger is damaged.
 *
 * @throws Error with the line where the damage begins
 */
export async function* readGroups(file: LedgerFile): AsyncGenerator<Group> {
  let end: LedgerEnd = { position: 0, sum: '' }
  let firstLine = 1
  /** The bytes after `end` that have been read. */
  let buffer: Buffer = Buffer.alloc(0)
  let fileSize = Infinity
  for (;;) {
    const commit = findCommit(buffer)
    if (commit === undefined) {
      // Double the buffer each time, so that a long group is copied only a few times.
      const more = await readRange(file, end.position + buffer.length, Math.max(CHUNK_BYTES, buffer.length))
      if (more.length === 0) {
        // Another process may append more groups now. The search for damage below must not read them.
        fileSize = end.position + buffer.length
        break
      }
      buffer = Buffer.concat([buffer, more])
      continue
    }
    const content = buffer.subarray(0, commit.start)
    if (commit.after !== end.sum || commit.bytes !== content.length || sumOf(commit.after, content) !== commit.sum)
      break
    end = { position: end.position + commit.end, sum: commit.sum }
    const lines = content.toString('utf8').split('\n')
    lines.pop()
    yield { lines, firstLine, end }
    firstLine += lines.length + 1
    buffer = buffer.subarray(commit.end)
  }
  if (await hasLaterGroup(file, end, fileSize)) {
    throw new Error(`it is damaged from line ${firstLine} on. Restore it from a backup`)
  }
}

interface Commit {
  readonly start: number
  readonly end: number
  readonly bytes: number
  readonly after: string
  readonly sum: string
}

/** Returns the first commit in the bytes. A JSON string can't contain `COMMIT_START`, because its quotes are escaped. */
function findCommit(bytes: Buffer): Commit | undefined {
  for (let start = bytes.indexOf(COMMIT_START); start !== -1; start = bytes.indexOf(COMMIT_START, start + 1)) {
    const found = COMMIT_LINE.exec(bytes.toString('latin1', start, start + MAX_COMMIT_BYTES))
    if (found === null) continue
    const [line, length, after = '', sum = ''] = found
    return { start, end: start + line.length, bytes: Number(length), after, sum }
  }
  return undefined
}

/**
 * Returns whether the file has another group after the broken group at `end`. If so, the broken group is damaged: a group is
 * written only after the previous group was flushed. Otherwise, it is an incomplete write.
 *
 * A commit belongs to another group if that group is intact, or if neither its `after` nor its start fits the broken group.
 */
async function hasLaterGroup(file: LedgerFile, end: LedgerEnd, fileSize: number): Promise<boolean> {
  for (let position = end.position; ; ) {
    const chunk = await readRange(file, position, Math.min(CHUNK_BYTES, fileSize - position))
    const commit = findCommit(chunk)
    if (commit !== undefined) {
      const start = position + commit.start - commit.bytes
      if (commit.after !== end.sum && start !== end.position) return true
      const content = start < 0 ? undefined : await readRange(file, start, commit.bytes)
      if (content !== undefined && sumOf(commit.after, content) === commit.sum) return true
      position += commit.end
    } else if (chunk.length === CHUNK_BYTES) {
      // The end of the chunk may cut a commit in two.
      position += CHUNK_BYTES - MAX_COMMIT_BYTES
    } else {
      return false
    }
  }
}

/** Reads bytes at the position. Returns fewer than `length` at the end of the file. */
export async function readRange(file: LedgerFile, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  for (let count = -1; count !== 0 && filled < length; filled += count) {
    count = await file.read(buffer.subarray(filled), position + filled)
  }
  return buffer.subarray(0, filled)
}
