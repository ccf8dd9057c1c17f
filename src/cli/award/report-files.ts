import { constants } from 'node:fs'
import { access, lstat, realpath, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { toJsonText } from '../../shared/text/visible-text.ts'
import { type CommandFailure, usageFailure } from '../failure.ts'
import { fileFailure, replaceFile } from '../files.ts'
import { type Plan, readEntries } from './plan.ts'

const EXTENSIONS = ['.json', '.csv', '.txt']

/** Checks the report paths. @throws CommandFailure when a report cannot be written or would replace a file of the run */
export async function checkReportPaths(paths: readonly string[], filesOfRun: readonly string[]): Promise<void> {
  for (const path of paths) {
    const report = `--report "${path}"`
    if (!EXTENSIONS.includes(extname(path).toLowerCase())) {
      throw usageFailure(`${report} must end in .json, .csv or .txt`)
    }
    for (const file of filesOfRun) {
      if (await isSameFile(file, path)) throw usageFailure(`${report} would replace a file of the run`)
    }
    const existing = await lstat(path).catch(() => undefined)
    if (existing !== undefined && !existing.isFile()) throw usageFailure(`${report} is not a file`)
    try {
      await access(dirname(resolve(path)), constants.W_OK)
    } catch (error) {
      throw fileFailure(`${report} cannot be written`, error)
    }
  }
}

/** Returns whether two paths name the same file. Resolves links. The file need not exist. */
async function isSameFile(one: string, other: string): Promise<boolean> {
  if ((await realPath(one)) === (await realPath(other))) return true
  const [first, second] = await Promise.all([one, other].map((path) => stat(path, { bigint: true }).catch(() => null)))
  return !!first && !!second && first.dev === second.dev && first.ino === second.ino
}

async function realPath(path: string): Promise<string> {
  const folder = dirname(resolve(path))
  return join(await realpath(folder).catch(() => folder), basename(path))
}

interface ReportContents {
  /** The content of `.json`. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The content of `.txt`. */
  readonly lines: readonly string[]
  /** The source of `.csv`. */
  readonly plan: Plan
}

/** Writes each report completely or not at all, in the format of its extension. Returns the failures. */
export async function writeReports(paths: readonly string[], contents: ReportContents): Promise<CommandFailure[]> {
  const failures: CommandFailure[] = []
  for (const path of paths) {
    try {
      await replaceFile(path, await reportText(path, contents))
    } catch (error) {
      failures.push(fileFailure(`--report "${path}" cannot be written`, error))
    }
  }
  return failures
}

async function reportText(path: string, { fields, lines, plan }: ReportContents): Promise<string> {
  switch (extname(path).toLowerCase()) {
    case '.json':
      return `${toJsonText(fields)}\n`
    case '.csv':
      return csvReport(plan)
    default:
      return `${lines.join('\n')}\n`
  }
}

/** Formats each award of the list with its verdict in the ledger. */
async function csvReport({ list, ledger }: Plan): Promise<string> {
  const entries = new Map((await readEntries(ledger)).map((entry) => [entry.id, entry]))
  const lines = [...list.awards.values()].map(({ line, address, pid, id, xp }) => {
    const { verdict = 'not_sent', at = '', error } = entries.get(id) ?? {}
    return csvLine([line, address, pid, id, xp, verdict, at, error?.message ?? ''])
  })
  return [csvLine(['line', 'address', 'pid', 'id', 'xp', 'verdict', 'at', 'reason']), ...lines].join('')
}

const csvLine = (cells: readonly (string | number)[]): string => `${cells.map(csvCell).join(',')}\r\n`

/** Quotes a cell. Puts an apostrophe before text that a spreadsheet would run as a formula. */
function csvCell(cell: string | number): string {
  if (typeof cell === 'number') return String(cell)
  const text = /^\s*[=+\-@]/.test(cell) ? `'${cell}` : cell
  return /[",;\s]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
