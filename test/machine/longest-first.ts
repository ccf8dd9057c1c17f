import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that wait for processes, leases and browsers, or compile much, from the longest. */
const LONG = [
  'test/site/site.test.ts',
  'test/webhook/stores/postgres-crash.test.ts',
  'test/webhook/stores/redis-crash.test.ts',
  'test/console/console.test.ts',
  'test/cli/award/award.test.ts',
  'test/cli/award/terminal.test.ts',
  'test/bulk/queues.test.ts',
  'test/bulk/kills.test.ts',
  'test/webhook/examples/postgres.test.ts',
  'test/webhook/stores/stalled.test.ts',
  'test/docs/snippets.test.ts',
  'test/examples/awards.test.ts',
  'test/webhook/stores/redis-cluster.test.ts',
]

/**
 * Starts with the files that take long, so that none of them is left alone at the end. Vitest does so by itself where it
 * remembers the last run; on a fresh clone it goes by the size of the files, and some of these are small.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = LONG.findIndex((file) => moduleId.endsWith(`/${file}`))
      return place < 0 ? LONG.length : place
    }
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other))
  }
}
