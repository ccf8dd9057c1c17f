import { extname } from 'node:path'
import type { LedgerEntry } from 'campaign-client/bulk'
import { stringify } from 'csv-stringify/sync'
import { toJsonText, toVisible } from '../../shared/text.ts'
import { type CommandFailure, usageFailure } from '../failure.ts'
import { checkOutputFile, outputFailure, replaceFile } from '../files.ts'
import { JSON_VERSION } from '../output.ts'
import { entriesOf, type Plan } from './plan.ts'

const EXTENSIONS = ['.json', '.csv', '.txt']

/** Checks the report paths. @throws CommandFailure when a report cannot be written or would replace a file of the run */
export async function checkReportPaths(paths: readonly string[], filesOfRun: readonly string[]): Promise<void> {
  for (const path of paths) {
    if (!EXTENSIONS.includes(extname(path).toLowerCase())) {
      throw usageFailure(`--report "${path}" must end in .json, .csv or .txt`)
    }
    await checkOutputFile('--report', path, filesOfRun)
  }
}

interface ReportContents {
  /** The content of `.json`. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The content of `.txt`. */
  readonly lines: readonly string[]
  /** The content of `.csv`: an object for each line, with the same fields. */
  readonly records: () => Promise<readonly Readonly<Record<string, string | number>>[]>
}

/** Writes each report completely or not at all, in the format of its extension. Returns the failures. */
export async function writeReports(paths: readonly string[], contents: ReportContents): Promise<CommandFailure[]> {
  const failures: CommandFailure[] = []
  for (const path of paths) {
    try {
      await replaceFile(path, await reportText(path, contents))
    } catch (error) {
      failures.push(outputFailure('--report', path, error))
    }
  }
  return failures
}

async function reportText(path: string, { fields, lines, records }: ReportContents): Promise<string> {
  switch (extname(path).toLowerCase()) {
    case '.json':
      return `${toJsonText({ version: JSON_VERSION, ...fields })}\n`
    case '.csv':
      return stringify([...(await records())], { header: true, record_delimiter: 'windows', escape_formulas: true })
    default:
      return `${lines.map(toVisible).join('\n')}\n`
  }
}

/** Returns each award of a list, with its verdict in the ledger. */
export async function awardRecords({ list, ledger }: Plan): Promise<Record<string, string | number>[]> {
  const entries = new Map<string, LedgerEntry>()
  for await (const entry of entriesOf(ledger)) if (list.awards.has(entry.id)) entries.set(entry.id, entry)
  return [...list.awards.values()].map(({ line, address, pid, id, xp }) => {
    const { verdict = 'not_sent', at = '', error } = entries.get(id) ?? {}
    return { line, address, pid, id, xp, verdict, at, reason: error?.message ?? '' }
  })
}
