import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { sourcesByName } from './scripts/entry-points.ts'
import { FULL_SIZE } from './test/support/full-size.ts'

/** Tests import the package by its public names. */
const alias = Object.entries(sourcesByName).map(([name, source]) => ({
  find: new RegExp(`^${name}$`),
  replacement: fileURLToPath(new URL(source, import.meta.url)),
}))

/** Tests that need a server, another process of Node.js, a build or a browser, and the tests of docs and examples. */
const INTEGRATION = 'test/**/*.integration.test.ts'

export default defineConfig({
  resolve: { alias },
  test: {
    exclude: ['test/consumers/**', 'test/runtimes/**', '**/node_modules/**'],
    // Most tests wait for servers and processes, so more workers than cores are faster. In full size they compute.
    maxWorkers: availableParallelism() + (FULL_SIZE ? 1 : 3),
    // Applies to concurrent tests within a file.
    maxConcurrency: 8,
    setupFiles: ['test/support/random-seed.ts', 'test/support/leak-check.ts'],
    // Generous, so that a slow machine fails no test.
    testTimeout: FULL_SIZE ? 1_200_000 : 600_000,
    hookTimeout: 600_000,
    // Tests that run at the same time would clear each other's mocks.
    clearMocks: false,
    expect: { poll: { timeout: 90_000 } },
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'reports/tests.json' }]] : ['default'],
    coverage: { provider: 'v8', include: ['src/**'] },
    // `npm test` runs the project `unit`, `npm run test:all` both.
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          // Files share processes, which saves half of the time.
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: [INTEGRATION],
          typecheck: { enabled: true, include: ['test/**/*.test-d.ts'], tsconfig: './test/tsconfig.types.json' },
        },
      },
      {
        extends: true,
        test: { name: 'integration', include: [INTEGRATION], globalSetup: ['test/databases/shared-servers.ts'] },
      },
    ],
  },
})
