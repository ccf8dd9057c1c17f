import { type OptionRules, optional, optionProblems } from '../../../shared/options.ts'
import { invalidRequest } from '../../invalid-request.ts'
import { headerConflict, isRunName, type LedgerHeader } from '../header.ts'
import { type AwardLedger, LEDGER, type LedgerSession } from '../ledger.ts'
import { fileSession } from './file-session.ts'
import { GroupWriter } from './group-writer.ts'
import { commitLine, groupSum, headerLine } from './lines.ts'
import { takeLock } from './lock.ts'
import { readContents, readHeader, UnreadableLedger } from './open-ledger.ts'
import { absolutePath, unusable } from './path.ts'
import { findRow } from './read-ledger.ts'
import { fileStorage, type LedgerFile, type LedgerStorage } from './storage.ts'

/** Options of {@link fileLedger}. */
export interface FileLedgerOptions {
  /**
   * The name of the run that the ledger belongs to. A ledger of another run is refused, so that what a test run has
   * written is never taken for what has happened in production. At most 500 characters.
   *
   * @defaultValue `'default'`
   */
  run?: string
}

/** A ledger in a file of this machine: made by {@link fileLedger}. */
export interface FileLedger extends AwardLedger {
  readonly kind: 'file'
  /** The absolute path of the file. */
  readonly path: string
}

const OPTIONS: OptionRules<FileLedgerOptions> = { run: optional(isRunName) }

/** Without a name of its own a run has this one. */
export const DEFAULT_RUN = 'default'

/**
 * Keeps the truth of a run of awards in a file: a line of JSON for every intent before its request leaves, and one for
 * every verdict. Nothing is opened until a run begins.
 *
 * The file is made when it is not there, readable by its owner only. While a run uses it, `PATH.lock` keeps others away;
 * that of a process that was killed is taken over. It must be on a disk that keeps what it says it has written. What a
 * crash cut off is left out at the next start; a file that is damaged before its last complete group of lines, was begun
 * by another run or for another service or token, or is of another version, is refused.
 *
 * The format is documented in the guide, “Bulk awards”, and can be read with {@link readLedger} or with `jq`.
 *
 * @param path - of the file; its folder must exist. Symbolic links are refused
 * @throws InvalidRequestError when the path is not a non-empty string, or an option is wrong
 */
export function fileLedger(path: string, options: FileLedgerOptions = {}): FileLedger {
  return fileLedgerOn(fileStorage, path, options)
}

/** The same over another storage than the file system; only the lock is still a file. */
export function fileLedgerOn(storage: LedgerStorage, path: string, options: FileLedgerOptions = {}): FileLedger {
  const absolute = absolutePath('fileLedger', path)
  const issues = optionProblems(options, OPTIONS).map((found) => ({ ...found, path: ['options', ...found.path] }))
  if (issues.length > 0) throw invalidRequest('fileLedger', issues)
  const run = options.run ?? DEFAULT_RUN
  return {
    kind: 'file',
    path: absolute,
    run,
    [LEDGER]: { open: (target) => openSession(storage, absolute, { run, target }) },
  }
}

async function openSession(storage: LedgerStorage, path: string, header: LedgerHeader): Promise<LedgerSession> {
  const cleanUp: (() => Promise<void>)[] = []
  try {
    const lock = await takeLock(`${path}.lock`)
    cleanUp.push(() => lock.release())
    const file = (await storage.open(path, 'write')) ?? (await begin(storage, path, header))
    cleanUp.unshift(() => file.close())
    const conflict = headerConflict(await readHeader(file), header)
    if (conflict !== undefined) throw new UnreadableLedger(`${conflict}. Name another file, or go on as it was begun`)

    const { index, end } = await readContents(file)
    const isCutOff = (await file.read(Buffer.alloc(1), end.position)) > 0
    if (isCutOff) await file.truncate(end.position)
    // What a killed process wrote may be in memory only. From here on it counts.
    else await file.flush()

    const writer = new GroupWriter(file, end, () => lock.check())
    return fileSession({
      index,
      writer,
      find: (id) => findRow(file, id),
      async close() {
        await writer.idle()
        await runAll(cleanUp)
      },
    })
  } catch (error) {
    await runAll(cleanUp).catch(() => undefined)
    throw unusable(path, error)
  }
}

async function begin(storage: LedgerStorage, path: string, header: LedgerHeader): Promise<LedgerFile> {
  const line = headerLine(header)
  await storage.create(path, Buffer.from(line + commitLine(1, groupSum('', Buffer.from(line)))))
  const file = await storage.open(path, 'write')
  if (file === undefined) throw new UnreadableLedger('it was made just now, and is gone')
  return file
}

/** Each of them runs, also when one before it failed. @throws what the first one that failed threw */
async function runAll(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) await step().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}
