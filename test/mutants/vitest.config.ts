import { defineConfig } from 'vitest/config'
import base from '../../vitest.config.ts'
import { ROOMS } from './rooms.ts'

/** The tests of one room, without type checking: a mutant need not compile as TypeScript. */
export default defineConfig({
  resolve: base.resolve ?? {},
  test: {
    include: [...(ROOMS[process.env.CAMPAIGN_MUTANTS_ROOM ?? '']?.tests ?? [])],
    exclude: base.test?.exclude ?? [],
    typecheck: { enabled: false },
  },
})
