import { isRecord } from '../../../shared/types.ts'
import { AwardIndex } from '../award-index.ts'
import type { LedgerHeader } from '../header.ts'
import { afterCrash } from '../state.ts'
import { applyLine, eachLine } from './entries.ts'
import type { LedgerEnd } from './group-writer.ts'
import { DamagedLedger, type Group, readGroups } from './groups.ts'
import { LEDGER, LEDGER_START, VERSION } from './lines.ts'
import type { LedgerFile } from './storage.ts'

/** What is at the path is no ledger that this version can read. */
export class UnreadableLedger extends Error {}

/** More than any header has. */
const LONGEST_HEADER = 1 << 16

/**
 * Reads the header alone.
 *
 * @throws UnreadableLedger when it is none, or of another version
 */
export async function readHeader(file: LedgerFile): Promise<LedgerHeader> {
  const buffer = Buffer.alloc(LONGEST_HEADER)
  let filled = 0
  for (let count = -1; count !== 0 && filled < buffer.length; filled += count) {
    count = await file.read(buffer.subarray(filled), filled)
  }
  const text = buffer.toString('utf8', 0, filled)
  if (filled === 0) throw new UnreadableLedger('it is empty, which no ledger is. Delete it to begin a new one')
  if (!buffer.subarray(0, LEDGER_START.length).equals(LEDGER_START)) {
    throw new UnreadableLedger('it is not a ledger. Name another file')
  }
  const header = parse(text.slice(0, Math.max(0, text.indexOf('\n'))))
  if (!isRecord(header) || header.ledger !== LEDGER || !Number.isInteger(header.version)) {
    throw new DamagedLedger('its first line, the header, is damaged')
  }
  if (header.version !== VERSION) {
    throw new UnreadableLedger(
      `it has version ${header.version} of the format, and this is a campaign-client of version ${VERSION}`,
    )
  }
  const { run, target } = header
  if (typeof run !== 'string' || !(target === null || isRecord(target))) {
    throw new DamagedLedger('its first line, the header, is damaged')
  }
  return { run, target: (target as LedgerHeader['target'] | null) ?? undefined }
}

/** What a ledger holds, and where it goes on. */
export interface LedgerContents {
  readonly index: AwardIndex
  readonly end: LedgerEnd
}

/**
 * Reads all entries into an index.
 *
 * @param onLine - is told of each line after it was applied
 * @throws DamagedLedger saying where
 */
export async function readContents(
  file: LedgerFile,
  onLine: (entry: number, line: number) => void = () => undefined,
): Promise<LedgerContents> {
  const index = new AwardIndex()
  let end: LedgerEnd | undefined
  for await (const group of readGroups(file)) {
    if (end !== undefined) applyGroup(index, group, onLine)
    end = { position: group.end, sum: group.sum }
  }
  if (end === undefined) throw new DamagedLedger('its first line, the header, is damaged')
  for (let entry = 0; entry < index.size; entry++) index.setState(entry, afterCrash(index.state(entry)))
  return { index, end }
}

function applyGroup(index: AwardIndex, group: Group, onLine: (entry: number, line: number) => void): void {
  eachLine(group, (start, end, line) => onLine(applyLine(index, group.bytes, start, end, line), line))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
