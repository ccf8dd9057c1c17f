/**
 * Puts mistakes into a room and runs its tests, which have to notice each: `npm run test:mutants -- receiver`, or
 * `npm run test:mutants -- receiver lease.ts claim.ts:1-80` for some of its files or lines. What survived is printed, and
 * stands in reports/mutants-ROOM.html; one that makes no difference to anybody is marked in the source, with the reason.
 */
import { basename } from 'node:path'
import { Stryker } from '@stryker-mutator/core'
import { pathTo } from '../../scripts/repository.ts'
import { ROOMS } from './rooms.ts'

const [name = '', ...chosen] = process.argv.slice(2)
const room = ROOMS[name]
if (room === undefined) throw new Error(`Which room? There are ${Object.keys(ROOMS).join(', ')}`)
const { sources } = room
const mutate = chosen.length === 0 ? [...sources] : chosen.map(inItsFolder)

/** A file, or some lines of it, as `FILE:FIRST-LAST`. */
function inItsFolder(wanted: string): string {
  const [file = ''] = wanted.split(':')
  const path = sources.find((source) => basename(source) === file)
  if (path !== undefined) return path + wanted.slice(file.length)
  throw new Error(`No such file in ${name}: ${file}; there are ${sources.map((source) => basename(source)).join(', ')}`)
}

process.chdir(pathTo('.'))
// The runner's processes inherit it, and vitest.config.ts of this folder reads it.
process.env.CAMPAIGN_MUTANTS_ROOM = name
// Stryker runs tests in threads, which cannot change the zone of their process: in Greenwich no test of zones would fail.
process.env.TZ = 'Asia/Kolkata'
const mutants = await new Stryker({
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'test/mutants/vitest.config.ts' },
  mutate,
  ignorePatterns: [
    '/bench',
    '/docs',
    '/dist',
    '/examples',
    '/reports',
    '/coverage',
    '/test/runtimes',
    '/test/consumers',
  ],
  coverageAnalysis: 'perTest',
  concurrency: Number(process.env.CAMPAIGN_MUTANTS_WORKERS ?? 2),
  // A mutant that takes longer counts as noticed, which a machine that is busy with other things must not look like.
  timeoutMS: 60_000,
  reporters: ['progress-append-only', 'clear-text', 'html'],
  htmlReporter: { fileName: `reports/mutants-${name}.html` },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  thresholds: { high: 100, low: 100, break: null },
}).runMutationTest()
const unnoticed = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
if (unnoticed.length > 0) process.exitCode = 1
