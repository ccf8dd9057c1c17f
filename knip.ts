import type { KnipConfig } from 'knip'
import { command, entryPoints, runtimeChoices } from './scripts/entry-points.ts'

export default {
  entry: [
    'docs/.vitepress/{config,theme/index}.ts',
    'docs/examples/*.paths.ts',
    ...[...entryPoints, command].map(({ source }) => source),
    ...runtimeChoices.flatMap((choice) => [choice.node, choice.default]),
    'test/**/*.test-d.ts',
    'test/package/{check,consumers,examples,runtimes}.ts',
    'test/mutants/vitest.config.ts',
    'test/simulation/mutation-run.ts',
    'test/durability/receiver-program.ts',
    'test/runtimes/suite/{index,process}.ts',
    'test/webhook/stores/crash-child.ts',
    'examples/*.ts',
  ],
  project: [
    'docs/.vitepress/**/*.ts',
    'src/**/*.{ts,tsx}',
    'scripts/**/*.{ts,tsx}',
    'test/**/*.ts',
    '!test/consumers/**',
    'examples/**/*.ts',
  ],
  // Each has its own package.json, whose packages only test/package/consumers.ts installs.
  ignore: ['test/consumers/**'],
  ignoreExportsUsedInFile: true,
  ignoreBinaries: ['mkfifo', 'soffice'],
  ignoreDependencies: [
    '@arethetypeswrong/cli',
    '@stryker-mutator/vitest-runner',
    'axe-core',
    'playwright-core',
    'publint',
  ],
} satisfies KnipConfig
