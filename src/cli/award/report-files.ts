import { constants } from 'node:fs'
import { access, lstat, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { toJsonText } from '../../shared/text/visible-text.ts'
import { CommandFailure, usageFailure } from '../exit.ts'
import { fileFailure } from '../files.ts'

/** What a report can be written from. */
export interface ReportContents {
  /** For programs. */
  readonly fields: Readonly<Record<string, unknown>>
  /** For people. */
  readonly lines: readonly string[]
  /** For spreadsheets, where there is something of that kind. */
  rows(): AsyncIterable<string>
}

/** @throws CommandFailure when a report could not be written there, or would replace what is needed */
export async function checkReportPaths(paths: readonly string[], needed: readonly string[]): Promise<void> {
  for (const path of paths) {
    const said = `--report "${path}"`
    for (const file of needed) {
      if (await isSameFile(file, path)) throw usageFailure(`${said} would replace a file of the run`)
    }
    const there = await lstat(path).catch(() => undefined)
    if (there !== undefined && !there.isFile()) throw usageFailure(`${said} is not a file`)
    try {
      await stat(dirname(resolve(path)))
      await access(dirname(resolve(path)), constants.W_OK)
    } catch (error) {
      throw fileFailure(`${said} cannot be written`, error)
    }
  }
}

/** Whether two names stand for one file, there or not: through links of their folders, and of the file itself. */
async function isSameFile(one: string, other: string): Promise<boolean> {
  if ((await placeOf(one)) === (await placeOf(other))) return true
  const [first, second] = await Promise.all([one, other].map((path) => stat(path, { bigint: true }).catch(() => null)))
  return !!first && !!second && first.dev === second.dev && first.ino === second.ino
}

async function placeOf(path: string): Promise<string> {
  const folder = dirname(resolve(path))
  return join(await realpath(folder).catch(() => folder), basename(path))
}

/** Writes each report in the form that the end of its name tells: `.json`, `.csv`, or text. Whole, or not at all. */
export async function writeReports(paths: readonly string[], contents: ReportContents): Promise<CommandFailure[]> {
  const failures: CommandFailure[] = []
  for (const path of paths) {
    const unfinished = join(dirname(path), `.${basename(path)}.${process.pid}`)
    try {
      await writeFile(unfinished, textOf(path, contents), { flag: 'wx' })
      await rename(unfinished, path)
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => undefined)
      const what = `--report "${path}" cannot be written`
      failures.push(
        error instanceof CommandFailure ? usageFailure(`${what}: ${error.message}`) : fileFailure(what, error),
      )
    }
  }
  return failures
}

function textOf(path: string, { fields, lines, rows }: ReportContents): string | AsyncIterable<string> {
  switch (extname(path).toLowerCase()) {
    case '.json':
      return `${toJsonText(fields)}\n`
    case '.csv':
      return rows()
    default:
      return `${lines.join('\n')}\n`
  }
}
