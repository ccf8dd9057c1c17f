import { extname } from 'node:path'
import { toJsonText, toVisible } from '../../shared/text.ts'
import { type CommandFailure, usageFailure } from '../failure.ts'
import { checkOutputFile, outputFailure, replaceFile } from '../files.ts'
import { JSON_VERSION } from '../output.ts'

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

export interface ReportContents {
  /** The content of `.json`. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The content of `.txt`. */
  readonly lines: readonly string[]
  /** The content of `.csv`, in parts. */
  readonly table: () => Iterable<string> | Promise<Iterable<string>>
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

function reportText(path: string, { fields, lines, table }: ReportContents): ReturnType<ReportContents['table']> {
  switch (extname(path).toLowerCase()) {
    case '.json':
      return [`${toJsonText({ version: JSON_VERSION, ...fields })}\n`]
    case '.csv':
      return table()
    default:
      return [`${lines.map(toVisible).join('\n')}\n`]
  }
}
