import { extname } from 'node:path'
import { toJsonText, toVisible } from '../../shared/text.ts'
import { type CommandFailure, usageFailure } from '../failure.ts'
import { checkOutputFile, outputFailure, replaceFile } from '../files.ts'
import { JSON_VERSION } from '../output.ts'

interface ReportContents {
  /** The content of `.json`. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The content of `.txt`. */
  readonly lines: readonly string[]
  /** The content of `.csv`, in parts. */
  readonly table: () => Iterable<string> | Promise<Iterable<string>>
}

type ReportFormat = (contents: ReportContents) => ReturnType<ReportContents['table']>

/** By the extension of the report. */
const FORMATS: Readonly<Record<string, ReportFormat>> = {
  '.json': ({ fields }) => [`${toJsonText({ version: JSON_VERSION, ...fields })}\n`],
  '.csv': ({ table }) => table(),
  '.txt': ({ lines }) => [`${lines.map(toVisible).join('\n')}\n`],
}

/** @throws CommandFailure when the extension is unknown */
function formatOf(path: string): ReportFormat {
  const format = FORMATS[extname(path).toLowerCase()]
  if (format !== undefined) return format
  const known = Object.keys(FORMATS)
  throw usageFailure(`--report "${path}" must end in ${known.slice(0, -1).join(', ')} or ${known.at(-1)}`)
}

/** Checks the report paths. @throws CommandFailure when a report cannot be written or would replace a file of the run */
export async function checkReportPaths(paths: readonly string[], filesOfRun: readonly string[]): Promise<void> {
  for (const path of paths) {
    formatOf(path)
    await checkOutputFile('--report', path, filesOfRun)
  }
}

/** Writes each report completely or not at all, in the format of its extension. Returns the failures. */
export async function writeReports(paths: readonly string[], contents: ReportContents): Promise<CommandFailure[]> {
  const failures: CommandFailure[] = []
  for (const path of paths) {
    try {
      await replaceFile(path, await formatOf(path)(contents))
    } catch (error) {
      failures.push(outputFailure('--report', path, error))
    }
  }
  return failures
}
