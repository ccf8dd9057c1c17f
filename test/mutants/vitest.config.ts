import { defineConfig } from 'vitest/config'
import base from '../../vitest.config.ts'
import { MODULES } from './modules.ts'

/** The tests of one module, without type checks, because mutants may have type errors. */
export default defineConfig({
  resolve: base.resolve ?? {},
  test: {
    include: [...(MODULES[process.env.CAMPAIGN_MUTANTS_MODULE ?? '']?.tests ?? [])],
    exclude: base.test?.exclude ?? [],
    isolate: false,
    clearMocks: false,
    testTimeout: 30_000,
    expect: { poll: { timeout: 15_000 } },
    typecheck: { enabled: false },
  },
})
