import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import tsconfig from './tsconfig.json' with { type: 'json' }

/** The paths of tsconfig.json, so that tests import the package by the names a partner uses. */
const alias = Object.entries(tsconfig.compilerOptions.paths).map(([name, [file]]) => ({
  find: new RegExp(`^${name}$`),
  replacement: fileURLToPath(new URL(file as string, import.meta.url)),
}))

export default defineConfig({
  resolve: { alias },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/consumers/**', 'test/runtimes/**', '**/node_modules/**'],
    typecheck: { enabled: true, include: ['test/**/*.test-d.ts'], tsconfig: './tsconfig.json' },
    reporters: process.env.CI ? ['default', ['json', { outputFile: 'reports/tests.json' }]] : ['default'],
    coverage: { provider: 'v8', include: ['src/**'] },
  },
})
