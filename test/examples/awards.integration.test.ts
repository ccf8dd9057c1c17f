import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { pathTo } from '../../scripts/repository.ts'
import { ownDatabase } from '../databases/own-database.ts'
import { bothMissing, startBoth } from '../databases/postgres-and-redis.ts'
import { compiled } from '../support/compiled.ts'
import { skipsWithout } from '../support/skips-without.ts'

const pathOf = compiled(
  'examples/award-launch-party.ts',
  'examples/award-queue-bullmq.ts',
  'examples/award-queue-pg-boss.ts',
)

/** Runs an example and returns the lines of its output. */
async function run(name: string, environment: Record<string, string> = {}): Promise<string[]> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [pathOf(`examples/${name}.ts`)], {
    cwd: pathTo('.'),
    env: { ...process.env, ...environment },
    timeout: 180_000,
  })
  // Node.js 22 warns that node:sqlite is experimental.
  expect(stderr.replace(/^\(node:\d+\) ExperimentalWarning: SQLite.*\n\(Use .*\n/, '')).toBe('')
  return stdout.trim().split('\n')
}

test('award-launch-party: makes each award once, despite failures', async () => {
  const lines = await run('award-launch-party')
  expect(lines).toContainEqual(expect.stringMatching(/stopped by UnauthorizedError.*run it again to continue$/))
  expect(lines.filter((line) => line === '  complete')).toHaveLength(2)
  expect(lines.filter((line) => line === '  already awarded 3, duplicates 1, rejected 1')).toHaveLength(2)
  expect(lines).toContain('  row 201: rejected, address must be 0x and 40 hex digits')
  expect(lines.at(-1)).toBe('the ledger has 200 awards with 50250 XP, the service 200 with 50250')
})

describe.skipIf(skipsWithout('PostgreSQL and Redis', bothMissing))('awards as jobs', () => {
  const servers = startBoth()

  test.each(['award-queue-pg-boss', 'award-queue-bullmq'])('%s: makes each award once', async (name) => {
    const environment = { DATABASE_URL: await ownDatabase(servers.postgres), REDIS_URL: servers.redis.url }
    const lines = await run(name, environment)
    expect(lines).toContainEqual(
      expect.stringMatching(/ XP: will be retried: awardOne: it is unknown whether the award was made/),
    )
    expect(lines.filter((line) => line.endsWith(': alreadyAwarded')).length).toBeGreaterThan(0)
    expect(lines.at(-1)).toBe('the service has 2 awards')
  })
})
