import { tryParseJson } from '../../../shared/text/json.ts'
import { isRecord } from '../../../shared/type-checks.ts'
import type { LedgerHeader } from '../header.ts'
import { LEDGER_START, VERSION } from './format.ts'
import { readRange } from './read-groups.ts'
import type { LedgerFile } from './storage.ts'

const MAX_HEADER_BYTES = 1 << 16

/**
 * Reads the header.
 *
 * @throws Error when the file is not a ledger, has another version, or its header is damaged
 */
export async function readHeader(file: LedgerFile): Promise<LedgerHeader> {
  const text = (await readRange(file, 0, MAX_HEADER_BYTES)).toString('utf8')
  if (text === '') throw new Error('it is empty. Delete it to start a new ledger')
  if (!text.startsWith(LEDGER_START)) throw new Error('it is not a ledger. Use another file')
  const header = tryParseJson(text.slice(0, Math.max(0, text.indexOf('\n'))))
  if (!isRecord(header) || !Number.isInteger(header.version)) throw damaged()
  if (header.version !== VERSION) {
    throw new Error(`it has version ${header.version} of the format, and this package reads version ${VERSION}`)
  }
  const { run, target } = header
  if (typeof run !== 'string' || !(target === null || isRecord(target))) throw damaged()
  return { run, target: (target as LedgerHeader['target'] | null) ?? undefined }
}

const damaged = (): Error => new Error('its header, the first line, is damaged')
