import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../command.ts'
import { withInstalledProject } from '../installed-project.ts'
import { ROOT } from '../packed-package.ts'
import type { Finding, PackageCheck } from './finding.ts'

const ROUNDS = 11

/** Measures a cold import. The time has no limit, because it depends on the machine and its load. */
export const measureImportTime: PackageCheck = {
  title: 'import time (reported only)',
  run: (packed) => withInstalledProject(packed, measure),
}

async function measure(project: string): Promise<Finding> {
  const peers = join(ROOT, 'reports/package/import-peers')
  mkdirSync(peers, { recursive: true })
  const programs = {
    empty: write(project, 'empty', ''),
    root: write(project, 'root', "import 'campaign-client'"),
    webhook: write(project, 'webhook', "import 'campaign-client/webhook'"),
    command: join(project, 'node_modules/campaign-client/dist/cli/main.js'),
    // Inside the repository, where the bundled packages are installed.
    peers: write(peers, 'peers', "import 'ky'\nimport 'zod'\nimport 'jose'"),
  }
  const times: Record<keyof typeof programs, number[]> = { empty: [], root: [], webhook: [], command: [], peers: [] }
  const names = Object.keys(programs) as (keyof typeof programs)[]
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of names) {
      const { code, output, seconds } = await runCommand(process.execPath, [programs[name], '--version'], {
        cwd: project,
      })
      if (code !== 0) return { problems: [`importing ${name} failed:\n${output}`], notes: [] }
      times[name].push(seconds)
    }
  }
  const ratio = (name: keyof typeof programs, to: keyof typeof programs) =>
    (median(times[name]) / median(times[to])).toFixed(2)
  return {
    problems: [],
    notes: [
      `campaign-client takes ${ratio('root', 'empty')} times as long as an empty program (aim: 1.7), ${ratio('root', 'peers')} times as long as ky + zod + jose`,
      `campaign-client/webhook takes ${ratio('webhook', 'empty')} times as long as an empty program (aim: 1.12)`,
      `campaign-client --version takes ${ratio('command', 'empty')} times as long as an empty program (aim: 2.0)`,
      `medians of ${ROUNDS} interleaved rounds; an empty program took ${(median(times.empty) * 1000).toFixed(0)} ms`,
    ],
  }
}

function write(directory: string, name: string, code: string): string {
  const file = join(directory, `${name}.mjs`)
  writeFileSync(file, `${code}\n`)
  return file
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
