import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

/** The tests that hold the signature's code, without type checking: a mutant need not compile as TypeScript. */
export default defineConfig({
  resolve: base.resolve ?? {},
  test: {
    include: ['test/webhook/{verify/{hmac,vectors,signature},event/event}.test.ts'],
    typecheck: { enabled: false },
  },
})
