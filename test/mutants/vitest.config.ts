import { relative } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import base from '../../vitest.config.ts'
import { ROOMS } from './rooms.ts'

const tests = ROOMS[process.env.CAMPAIGN_MUTANTS_ROOM ?? '']?.tests ?? []

/** The first test that fails ends the run of a mutant, and vitest by itself begins with the files that take longest. */
class AsListed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => tests.indexOf(relative(this.ctx.config.root, moduleId))
    return (await super.sort(files)).sort((one, other) => place(one) - place(other))
  }
}

/** The tests of one room, without type checking: a mutant need not compile as TypeScript. */
export default defineConfig({
  resolve: base.resolve ?? {},
  test: {
    include: [...tests],
    exclude: base.test?.exclude ?? [],
    sequence: { sequencer: AsListed },
    typecheck: { enabled: false },
  },
})
