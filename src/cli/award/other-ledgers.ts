import { mkdtempSync, rmSync, type Stats } from 'node:fs'
import { access, constants, copyFile, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { fileLedger } from '../../bulk/ledger/file-ledger.ts'
import { LEDGER } from '../../bulk/ledger/ledger.ts'
import { awardKey } from '../../shared/award.ts'
import { type ClientTarget, differentParts } from '../../shared/client-internals.ts'
import { shellWord } from '../../shared/text.ts'
import { comparableAddress } from '../../shared/wallet-address.ts'
import { isSystemError, systemReason } from '../files.ts'
import type { Interrupts } from '../interrupts.ts'
import { formatCount, formatNumber } from './format.ts'
import type { AwardList } from './list.ts'

/** A ledger with awards of a list's wallets: the same campaign and XP, but another id. */
interface SimilarLedger {
  readonly ledger: string
  readonly wallets: number
  /** The date of the last of these awards. */
  readonly lastAt: string
}

/** The result of a comparison with the other ledgers of a folder. */
export interface Elsewhere {
  /** The wallets of the list that have such an award in any of the ledgers. */
  readonly wallets: number
  /** The ledger with the most of them comes first. */
  readonly ledgers: readonly SimilarLedger[]
  /** The ledgers that have awards under the ids of the list, and those that were not compared, or not completely. */
  readonly warnings: readonly string[]
  /** Why the ledgers were not compared. Absent if they were. */
  readonly notCompared?: string
}

export const NOTHING_ELSEWHERE: Elsewhere = { wallets: 0, ledgers: [], warnings: [] }

const MAX_LEDGERS = 200
const MAX_BYTES = 256_000_000
const MAX_TOTAL_BYTES = 1_000_000_000
/** Older awards are a payout of another month. */
const MAX_AGE_MS = 14 * 86_400_000

interface Candidate {
  readonly path: string
  readonly bytes: number
  /** Changes while a run writes to the ledger. */
  readonly version: unknown
  /** Whether a run uses the ledger, or was killed. */
  readonly isOpen: boolean
  readonly changedAt: number
}

/**
 * Looks for awards of a list in the other ledgers of its ledger's folder. It reads copies, so that no lock of a run is
 * touched.
 *
 * @param target - of the client; `undefined` to compare the ledgers of all targets
 */
export async function compareLedgers(
  list: AwardList,
  ledger: string,
  target: ClientTarget | undefined,
  interrupts: Interrupts,
): Promise<Elsewhere> {
  let notCompared = ''
  try {
    const candidates = (await findLedgers(ledger)).sort((one, other) => other.changedAt - one.changedAt)
    if (candidates.length === 0) return NOTHING_ELSEWHERE
    for (const parent of [tmpdir(), dirname(ledger)]) {
      let folder: string | undefined
      // A signal between the creation of the folder and the handler would end the process and leave the folder.
      const cleanUp = interrupts.cleanUpOnSignal(() => folder && rmSync(folder, { recursive: true, force: true }))
      try {
        folder = mkdtempSync(join(parent, 'campaign-client-ledgers-'))
        return await compareCopies(candidates, folder, target, list)
      } catch (error) {
        const cause = error instanceof CopyError ? error.cause : error
        if (!isSystemError(cause)) throw error
        notCompared = `neither ${tmpdir()} nor the folder of the ledger can be written: ${systemReason(cause)}`
      } finally {
        cleanUp()
      }
    }
  } catch (error) {
    if (!isSystemError(error)) throw error
    notCompared = `the folder of the ledger cannot be listed: ${systemReason(error)}`
  }
  return { ...NOTHING_ELSEWHERE, notCompared }
}

/** Compares a list with ledgers. @throws CopyError when a ledger cannot be copied to the folder */
async function compareCopies(
  candidates: readonly Candidate[],
  folder: string,
  target: ClientTarget | undefined,
  list: AwardList,
): Promise<Elsewhere> {
  const wallets = new Set<string>()
  const ledgers: SimilarLedger[] = []
  const warnings: string[] = []
  const awards = new Set([...list.awards.values()].map(awardKey))
  let bytes = 0
  for (const candidate of candidates.slice(0, MAX_LEDGERS)) {
    const name = basename(candidate.path)
    if (candidate.bytes > MAX_BYTES || bytes + candidate.bytes > MAX_TOTAL_BYTES) {
      const limit = candidate.bytes > MAX_BYTES ? MAX_BYTES : MAX_TOTAL_BYTES
      warnings.push(`${name} was not compared: more than ${formatNumber(limit / 1e6)} MB`)
      continue
    }
    bytes += candidate.bytes
    try {
      const found = await findAwards(candidate, folder, target, list, awards)
      if (candidate.isOpen) warnings.push(`${name} is in use, or its run was killed: compared as far as it is written`)
      if (found.sameIds > 0) warnings.push(sameIdsWarning(found.sameIds, candidate.path))
      if (found.wallets.size === 0) continue
      for (const wallet of found.wallets) wallets.add(wallet)
      ledgers.push({ ledger: candidate.path, wallets: found.wallets.size, lastAt: found.lastAt })
    } catch (error) {
      if (error instanceof CopyError) throw error
      warnings.push(`${name} was not compared: ${reasonOf(error)}`)
    }
  }
  const others = candidates.length - MAX_LEDGERS
  if (others > 0) warnings.push(`not compared: ${formatCount(others, 'older ledger')} of the folder`)
  ledgers.sort((one, other) => other.wallets - one.wallets)
  return { wallets: wallets.size, ledgers, warnings }
}

/** Warns of a list under another name, and of a new payout with the reason of an earlier one. */
function sameIdsWarning(count: number, ledger: string): string {
  const awards = `${formatCount(count, 'award')} of the list ${count === 1 ? 'is' : 'are'}`
  const advice = `to continue that run, add --ledger ${shellWord(ledger)}; for a new payout, use other reasons or ids`
  return `${awards} in ${basename(ledger)} under the same id, and the service accepts an id once: ${advice}`
}

/** Finds the regular files `*.ledger` in the folder of a ledger, other than the ledger itself. @throws the error of `readdir` */
async function findLedgers(ledger: string): Promise<Candidate[]> {
  const folder = dirname(ledger)
  const own = await stat(ledger).catch(() => undefined)
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ledger')).map(({ name }) => name)
  const candidates: Candidate[] = []
  for (const name of names) {
    const path = join(folder, name)
    const file = await stat(path).catch(() => undefined)
    if (file === undefined || resolve(path) === resolve(ledger)) continue
    if (own !== undefined && own.dev === file.dev && own.ino === file.ino) continue
    candidates.push(candidateOf(path, file, await stat(`${path}-wal`).catch(() => undefined)))
  }
  return candidates
}

function candidateOf(path: string, file: Stats, wal: Stats | undefined): Candidate {
  const versionOf = (of: Stats | undefined) => of && [of.dev, of.ino, of.size, of.mtimeMs]
  return {
    path,
    bytes: file.size + (wal?.size ?? 0),
    version: [versionOf(file), versionOf(wal)],
    isOpen: (wal?.size ?? 0) > 0,
    changedAt: Math.max(file.mtimeMs, wal?.mtimeMs ?? 0),
  }
}

class ChangedError extends Error {}

/** The copy of a ledger cannot be written. */
class CopyError extends Error {}

/** Copies a file. @throws CopyError when the copy cannot be written, or the error of the system when the file cannot be read */
async function copyTo(copy: string, path: string): Promise<void> {
  await access(path, constants.R_OK)
  await copyFile(path, copy).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' || error.code === 'EIO' ? error : new CopyError('cannot be copied', { cause: error })
  })
}

/** Copies a ledger to the folder and looks for similar awards in the copy. */
async function findAwards(
  candidate: Candidate,
  folder: string,
  target: ClientTarget | undefined,
  list: AwardList,
  awards: ReadonlySet<string>,
): Promise<{ wallets: ReadonlySet<string>; lastAt: string; sameIds: number }> {
  const { path } = candidate
  const copy = join(folder, 'copy')
  const wallets = new Set<string>()
  let lastAt = ''
  let sameIds = 0
  try {
    await copyTo(copy, path)
    await copyTo(`${copy}-wal`, `${path}-wal`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    const after = candidateOf(path, await stat(path), await stat(`${path}-wal`).catch(() => undefined))
    if (!isDeepStrictEqual(after.version, candidate.version)) throw new ChangedError()
    const minAt = new Date(Date.now() - MAX_AGE_MS).toISOString()
    const header = await fileLedger(copy)[LEDGER].read((entry) => {
      if (entry.verdict === 'rejected') return
      if (list.awards.has(entry.id)) sameIds++
      else if (entry.at >= minAt && awards.has(awardKey(entry))) {
        wallets.add(comparableAddress(entry.address))
        if (entry.at > lastAt) lastAt = entry.at
      }
    })
    const recorded = header?.target ?? undefined
    const isOther = recorded !== undefined && target !== undefined && differentParts(recorded, target).length > 0
    if (isOther) return { wallets: new Set(), lastAt, sameIds: 0 }
  } finally {
    await Promise.all(['', '-wal', '-shm', '-journal'].map((end) => rm(`${copy}${end}`, { force: true })))
  }
  return { wallets, lastAt, sameIds }
}

function reasonOf(error: unknown): string {
  if (error instanceof ChangedError) return 'it is in use by a run'
  return isSystemError(error) ? systemReason(error) : 'it is damaged, or not a ledger of this version'
}
