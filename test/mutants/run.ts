/**
 * Mutates a module and runs its tests: `npm run test:mutants -- receiver`, or
 * `npm run test:mutants -- receiver src/webhook/receiver/delivery.ts:1-80` for some files or lines. Survivors are printed and
 * listed in reports/mutants-NAME.html. Fails below the threshold.
 */
import { Stryker } from '@stryker-mutator/core'
import { pathTo } from '../../scripts/repository.ts'
import { MODULES } from './modules.ts'

const [name = '', ...chosen] = process.argv.slice(2)
const module = MODULES[name]
if (module === undefined) throw new Error(`unknown module; use ${Object.keys(MODULES).join(', ')}`)

process.chdir(pathTo('.'))
// Read by vitest.config.ts in the runner's processes.
process.env.CAMPAIGN_MUTANTS_MODULE = name
await new Stryker({
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  // Forks, because some tests change the user or the time zone of their process.
  vitest: { configFile: 'test/mutants/vitest.config.ts', related: false, pool: 'forks' },
  mutate: chosen.length > 0 ? chosen : [...module.mutate],
  ignorePatterns: [
    '/bench',
    '/docs/*',
    '!/docs/webhook-vectors.json',
    '/dist',
    '/examples',
    '/reports',
    '/test/runtimes',
    '/test/consumers',
  ],
  coverageAnalysis: 'perTest',
  // Skip mutants in code that runs only on import: each mutant would need all tests of the module.
  ignoreStatic: true,
  concurrency: Number(process.env.CAMPAIGN_MUTANTS_WORKERS ?? 2),
  // A mutant that times out counts as detected. With a lower limit, slow tests on a busy machine would time out.
  timeoutMS: 15_000,
  reporters: ['progress-append-only', 'clear-text', 'html'],
  htmlReporter: { fileName: `reports/mutants-${name}.html` },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  thresholds: { high: 95, low: 90, break: 90 },
}).runMutationTest()
