import { resolve } from 'node:path'
import { CampaignError, ConfigurationError } from '../../../errors.ts'
import { callHook } from '../../../shared/call-hook.ts'
import { isFunction, type OptionRules, optional } from '../../../shared/option-checks.ts'
import { invalidRequestError } from '../../errors.ts'
import { readOptions } from '../../options.ts'
import { headerConflict, isRunName, type LedgerHeader } from '../header.ts'
import { type AwardLedger, LEDGER, type LedgerSession } from '../ledger.ts'
import { readEntries } from './entries.ts'
import { fileSession } from './file-session.ts'
import { headerGroup } from './format.ts'
import { GroupWriter } from './group-writer.ts'
import { type LedgerWait, type Lock, type LockTimes, takeLock } from './lock.ts'
import { moveTornEnd } from './move-torn-end.ts'
import { readHeader } from './read-header.ts'
import { fileStorage, type LedgerFile, type LedgerStorage } from './storage.ts'

/** Options of {@link fileLedger}. */
export interface FileLedgerOptions {
  /**
   * The name of the run, at most 500 characters. A ledger of another run is refused, so that a production run never
   * continues the ledger of a test run.
   *
   * @defaultValue `'default'`
   */
  run?: string | undefined
  /**
   * Called if another run holds the lock file but does not update it. This run then watches the lock file for at most 15
   * seconds. If the file is updated, this run fails. If not, this run takes the file over. Errors of the callback are ignored.
   */
  onWait?: ((wait: LedgerWait) => void) | undefined
}

/** A ledger in a local file: made by {@link fileLedger}. */
export interface FileLedger extends AwardLedger {
  readonly kind: 'file'
  /** The absolute path of the file. */
  readonly path: string
}

const OPTIONS: OptionRules<FileLedgerOptions> = { run: optional(isRunName), onWait: optional(isFunction) }
const DEFAULT_RUN = 'default'

/**
 * Records a run of awards in a file: a line of JSON (an intent) before each request is sent, and a line for each verdict.
 * The file is not opened before a run starts.
 *
 * A missing file is created, readable by its owner only. Use a local disk that honours fsync. While a run uses the file,
 * it holds the lock file `PATH.lock`. The next run takes over the lock file of a killed process, within 15 seconds. Lines
 * that a crash left incomplete at the end are moved to `PATH.torn-OFFSET`.
 *
 * A run fails if the ledger is damaged anywhere else, or belongs to another version, run, service or token. It also fails
 * if the file is a symbolic link or has more than one hard link.
 *
 * The format is documented in the guide, “Bulk awards”. Read it with {@link readLedger} or with `jq`.
 *
 * ```ts
 * const ledger = fileLedger('awards.ledger', { run: 'launch-party' })
 * ```
 *
 * @param path - of the file; its folder must exist
 * @throws InvalidRequestError when the path is not a non-empty string, or an option is invalid
 */
export function fileLedger(path: string, options: FileLedgerOptions = {}): FileLedger {
  return fileLedgerOn(fileStorage, path, options)
}

/** Does the same as {@link fileLedger}. Tests pass their own storage and lock times. */
export function fileLedgerOn(
  storage: LedgerStorage,
  path: string,
  options: FileLedgerOptions = {},
  times?: LockTimes,
): FileLedger {
  const absolute = absolutePath('fileLedger', path)
  const { run = DEFAULT_RUN, onWait } = readOptions('fileLedger', options, OPTIONS)
  const reportWait = (wait: LedgerWait): void => callHook(() => onWait?.(wait))
  return {
    kind: 'file',
    path: absolute,
    run,
    [LEDGER]: {
      open: (target) => openSession({ storage, path: absolute, times, onWait: reportWait }, { run, target }),
    },
  }
}

interface OpenOptions {
  readonly storage: LedgerStorage
  readonly path: string
  readonly times: LockTimes | undefined
  readonly onWait: (wait: LedgerWait) => void
}

async function openSession(
  { storage, path, times, onWait }: OpenOptions,
  header: LedgerHeader,
): Promise<LedgerSession> {
  let lock: Lock | undefined
  let file: LedgerFile | undefined
  const release = async (): Promise<void> => {
    try {
      await file?.close()
    } finally {
      await lock?.release()
    }
  }
  try {
    const taken = await takeLock(`${path}.lock`, times, onWait)
    lock = taken
    if (lock.isTakenOver) await storage.replaceByCopy(path, lock.check)
    file = (await storage.open(path, 'write')) ?? (await create(storage, path, header))
    const conflict = headerConflict(await readHeader(file), header)
    if (conflict !== undefined) throw new Error(`${conflict}. Use another file`)

    const { entries, end } = await readEntries(file)
    await moveTornEnd(storage, path, file, end)
    // A killed process may not have flushed its last lines.
    await file.flush()

    const checkLock = (): void => {
      try {
        taken.check()
      } catch (error) {
        throw unusable(path, error)
      }
    }
    const writer = new GroupWriter(file, end, checkLock)
    const close = async (): Promise<void> => {
      await writer.idle()
      await release()
    }
    return fileSession({ entries, writer, checkLock, close })
  } catch (error) {
    await release().catch(() => undefined)
    throw unusable(path, error)
  }
}

async function create(storage: LedgerStorage, path: string, header: LedgerHeader): Promise<LedgerFile> {
  await storage.create(path, headerGroup(header))
  const file = await storage.open(path, 'write')
  if (file === undefined) throw new Error('another program has removed it')
  return file
}

/** Codes of a full disk, a failing disk and too many open files. They do not mean that the ledger is wrong. */
const SYSTEM_ERRORS: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE'])

/** Returns a ConfigurationError with the path and the reason. Returns system errors and CampaignErrors unchanged. */
export function unusable(path: string, reason: unknown): unknown {
  if (reason instanceof CampaignError) return reason
  if (!(reason instanceof Error) || SYSTEM_ERRORS.has((reason as NodeJS.ErrnoException).code)) return reason
  return new ConfigurationError(`The ledger ${path} can't be used: ${reason.message}`, { cause: reason })
}

/** @throws InvalidRequestError when the path is not a non-empty string */
export function absolutePath(operation: string, path: unknown): string {
  if (typeof path === 'string' && path !== '') return resolve(path)
  throw invalidRequestError(operation, [{ path: ['path'], message: 'must be a non-empty string' }])
}
