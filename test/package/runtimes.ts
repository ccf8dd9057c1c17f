import { parseArgs } from 'node:util'
import { installRuntimes } from '../runtimes/installation.ts'
import { RUNTIMES, type Runtime } from '../runtimes/runtimes.ts'
import { buildSuite, type Trial, tryRuntime } from '../runtimes/trial.ts'
import { withInstalledProject } from './installed-project.ts'
import { packPackage } from './packed-package.ts'

/**
 * Runs the behaviours of test/runtimes against the packed package on every supported runtime and prints a table.
 * `--only node26,bun` chooses runtimes.
 */
const { values } = parseArgs({ options: { only: { type: 'string' } } })
const chosen = choose(values.only?.split(','))

await installRuntimes()
const trials = await withInstalledProject(await packPackage(), async (project) => {
  await buildSuite(project)
  const results: Trial[] = []
  for (const runtime of chosen) results.push(await tryRuntime(runtime, project))
  return results
})
print(trials)
const failed = trials.filter(({ problems }) => problems.length > 0).length
console.log(failed === 0 ? `${trials.length} runtimes passed` : `${failed} of ${trials.length} runtimes failed`)
process.exitCode = failed === 0 && trials.length > 0 ? 0 : 1

function choose(only: readonly string[] | undefined): readonly Runtime[] {
  const names = RUNTIMES.map(({ name }) => name)
  const unknown = only?.filter((name) => !names.includes(name)) ?? []
  if (unknown.length > 0) {
    console.error(`--only: unknown runtime ${unknown.join(', ')}; use ${names.join(', ')}`)
    process.exit(2)
  }
  return RUNTIMES.filter(({ name }) => only === undefined || only.includes(name))
}

function print(trials: readonly Trial[]): void {
  const rows = trials.map(({ runtime, version, hmac, passed, notApplicable, problems, seconds }) => [
    runtime.name,
    version,
    hmac,
    String(passed),
    String(problems.length),
    String(notApplicable.length),
    `${seconds.toFixed(1)} s`,
  ])
  const table = [['runtime', 'version', 'HMAC', 'passed', 'failed', 'n/a', 'time'], ...rows]
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? []
  for (const row of table) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  for (const { runtime, notApplicable } of trials) {
    for (const { name, lacks } of notApplicable) console.log(`n/a on ${runtime.name}: ${name} (no ${lacks})`)
  }
  for (const { runtime, problems } of trials) {
    for (const problem of problems) console.log(`FAILED on ${runtime.name}: ${problem.replaceAll('\n', '\n    ')}`)
  }
}
