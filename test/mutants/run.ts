/**
 * Puts mistakes into a room and runs its tests, which have to notice each: `npm run test:mutants -- receiver`, or
 * `npm run test:mutants -- receiver lease.ts claim.ts` for some of its files. What survived is printed, and stands in
 * reports/mutants-ROOM.html; one that makes no difference to anybody is marked in the source, with the reason.
 */
import { basename } from 'node:path'
import { Stryker } from '@stryker-mutator/core'
import { pathTo } from '../../scripts/repository.ts'
import { ROOMS } from './rooms.ts'

const [name = '', ...chosen] = process.argv.slice(2)
const room = ROOMS[name]
if (room === undefined) throw new Error(`Which room? There are ${Object.keys(ROOMS).join(', ')}`)
const files = room.sources.map((path) => basename(path))
const unknown = chosen.filter((file) => !files.includes(file))
if (unknown.length > 0) throw new Error(`No such file in ${name}: ${unknown.join(', ')}; there are ${files.join(', ')}`)

process.chdir(pathTo('.'))
// The runner's processes inherit it, and vitest.config.ts of this folder reads it.
process.env.CAMPAIGN_MUTANTS_ROOM = name
const mutants = await new Stryker({
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'test/mutants/vitest.config.ts' },
  mutate: room.sources.filter((path) => chosen.length === 0 || chosen.includes(basename(path))),
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
  timeoutMS: 20_000,
  reporters: ['clear-text', 'html'],
  htmlReporter: { fileName: `reports/mutants-${name}.html` },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  thresholds: { high: 100, low: 100, break: null },
}).runMutationTest()
const unnoticed = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
if (unnoticed.length > 0) process.exitCode = 1
