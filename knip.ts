import type { KnipConfig } from 'knip'
import { commands, entryPoints, runtimeChoices } from './scripts/entry-points.ts'

export default {
  entry: [
    'src/console/page/main.tsx',
    ...[...entryPoints, ...commands].map(({ source }) => source),
    ...runtimeChoices.flatMap((choice) => [choice.node, choice.default]),
    'test/**/*.test-d.ts',
    'test/package/{check,consumers,runtimes}.ts',
    'test/new-endpoint/{try,runtime-calls}.ts',
    'test/runtimes/suite/index.ts',
    'examples/*.ts',
  ],
  project: ['src/**/*.{ts,tsx}', 'scripts/**/*.ts', 'test/**/*.ts', '!test/consumers/**', 'examples/**/*.ts'],
  ignoreExportsUsedInFile: true,
  // Built with the command.
  ignoreUnresolved: ['#console-page'],
  ignoreBinaries: ['mount', 'umount', 'unshare'],
  ignoreDependencies: ['@arethetypeswrong/cli', 'axe-core', 'playwright-core', 'publint', 'undici'],
} satisfies KnipConfig
