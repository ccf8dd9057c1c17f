import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../command.ts'
import { withInstalledProject } from '../installed-project.ts'
import { ROOT } from '../packed-package.ts'
import type { Finding, PackageCheck } from './finding.ts'

const ROUNDS = 11

/**
 * Measures a cold import. Reports the time without a limit, because it depends on the machine and its load.
 */
export const measureImportTime: PackageCheck = {
  title: 'import time (reported only)',
  run: (packed) => withInstalledProject(packed, measure),
}

async function measure(project: string): Promise<Finding> {
  const peers = join(ROOT, 'reports/package/import-peers')
  mkdirSync(peers, { recursive: true })
  const contestants = {
    empty: write(project, 'empty', ''),
    root: write(project, 'root', "import 'campaign-client'"),
    webhook: write(project, 'webhook', "import 'campaign-client/webhook'"),
    command: join(project, 'node_modules/campaign-client/dist/cli/main.js'),
    // Inside the repository, where the bundled packages are installed.
    peers: write(peers, 'peers', "import 'ky'\nimport 'zod'\nimport 'jose'"),
  }
  const times: Record<keyof typeof contestants, number[]> = { empty: [], root: [], webhook: [], command: [], peers: [] }
  const names = Object.keys(contestants) as (keyof typeof contestants)[]
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of names) {
      const { code, output, seconds } = await runCommand(process.execPath, [contestants[name], '--version'], {
        cwd: project,
      })
      if (code !== 0) return { problems: [`importing ${name} failed:\n${output}`], notes: [] }
      times[name].push(seconds)
    }
  }
  const ratio = (name: keyof typeof contestants, to: keyof typeof contestants) =>
    (median(times[name]) / median(times[to])).toFixed(2)
  return {
    problems: [],
    notes: [
      `. takes ${ratio('root', 'empty')} of an empty node (limit: 1.7), ${ratio('root', 'peers')} of ky + zod + jose`,
      `./webhook takes ${ratio('webhook', 'empty')} of an empty node (aim: 1.12)`,
      `campaign-client --version takes ${ratio('command', 'empty')} of an empty node (aim: 2.0)`,
      `medians of ${ROUNDS} interleaved rounds; an empty node took ${(median(times.empty) * 1000).toFixed(0)} ms`,
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
