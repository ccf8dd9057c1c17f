import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { sourcesByName } from './scripts/entry-points.ts'
import { FULL_SIZE } from './test/machine/full-size.ts'

/** Tests import the package by the names a partner uses. */
const alias = Object.entries(sourcesByName).map(([name, source]) => ({
  find: new RegExp(`^${name}$`),
  replacement: fileURLToPath(new URL(source, import.meta.url)),
}))

export default defineConfig({
  resolve: { alias },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/consumers/**', 'test/runtimes/**', '**/node_modules/**'],
    // Many tests wait for servers, processes and leases: with one more, two cores are idle for a seventh of the time. In their
    // full size they compute.
    maxWorkers: availableParallelism() + (FULL_SIZE ? 1 : 3),
    // Of those within a file that say so: they wait for leases of processes, and need little else.
    maxConcurrency: 8,
    // To start a process for each file, and import everything anew, took a third of all the time. The gate takes it.
    isolate: FULL_SIZE,
    setupFiles: ['test/machine/shared-process.ts'],
    // A machine may be many times slower than ours, and slowness is not what is tested.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    typecheck: { enabled: true, include: ['test/**/*.test-d.ts'], tsconfig: './test/tsconfig.types.json' },
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'reports/tests.json' }]] : ['default'],
    coverage: { provider: 'v8', include: ['src/**'] },
  },
})
