import type { KnipConfig } from 'knip'
import { commands, entryPoints, runtimeChoices } from './scripts/entry-points.ts'

export default {
  entry: [
    ...[...entryPoints, ...commands].map(({ source }) => source),
    ...runtimeChoices.flatMap((choice) => [choice.node, choice.default]),
    'test/**/*.test-d.ts',
    'test/package/{check,consumers,runtimes}.ts',
    'test/runtimes/suite/index.ts',
    'examples/*.ts',
  ],
  project: ['src/**/*.ts', 'scripts/**/*.ts', 'test/**/*.ts', '!test/consumers/**', 'examples/**/*.ts'],
  ignoreExportsUsedInFile: true,
  ignoreDependencies: ['@arethetypeswrong/cli', 'playwright-core', 'publint'],
} satisfies KnipConfig
