import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { Queue } from 'bullmq'
import type { AwardRow } from 'campaign-client/bulk'
import { postgresLedgerSchema } from 'campaign-client/bulk/postgres'
import { type CampaignService, createCampaignService, type FaultOptions } from 'campaign-client/testing'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { PgBoss } from 'pg-boss'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ownDatabase } from '../databases/own-database.ts'
import { bothMissing, startBoth } from '../databases/postgres-and-redis.ts'
import { compiled } from '../support/compiled.ts'
import { FULL_SIZE } from '../support/full-size.ts'
import { skipsWithout } from '../support/skips-without.ts'
import { awards } from './fixtures.ts'
import type { WorkerTask } from './queue-worker.ts'
import { type Random, randomFor } from './random.ts'

const JOBS = FULL_SIZE ? 300 : 40
const WORKERS = 3
/** The number of kills before all jobs are done. */
const KILLS = 4
/** The number of calls at the start that get no response. */
const HANGING_CALLS = 4

const PROGRAM = 'test/bulk/queue-worker.ts'
const pathOf = compiled(PROGRAM)

const FAULTS: readonly Omit<FaultOptions, 'on' | 'times'>[] = [
  { kind: 'applied_then_reset' },
  { kind: 'reset' },
  { kind: 'hang' },
  { kind: 'status', status: 500, applied: true } as never,
  { kind: 'status', status: 503 } as never,
  // Longer than the lock of a BullMQ job.
  { kind: 'delay', delayMs: 600 } as never,
  { kind: 'delay', delayMs: 300 } as never,
]

class Workers {
  readonly #task: WorkerTask
  readonly #running: ChildProcess[] = []
  kills = 0
  /** The number of jobs without a verdict, by reason. */
  readonly unsettled = new Map<string, number>()

  constructor(task: WorkerTask) {
    this.#task = task
    for (let index = 0; index < WORKERS; index++) this.#start(index)
    onTestFinished(() => this.end())
  }

  #start(index: number): void {
    const child = spawn(process.execPath, [pathOf(PROGRAM), JSON.stringify(this.#task)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#running[index] = child
    createInterface({ input: child.stdout }).on('line', (reason) => {
      this.unsettled.set(reason, (this.unsettled.get(reason) ?? 0) + 1)
    })
  }

  /** Kills one of the first two workers and starts another in its place. */
  async killOne(random: Random): Promise<void> {
    const index = random.below(WORKERS - 1)
    const child = this.#running[index] as ChildProcess
    const closed = once(child, 'close')
    child.kill('SIGKILL')
    await closed
    this.kills++
    this.#start(index)
  }

  async end(): Promise<void> {
    for (const child of this.#running) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const closed = once(child, 'close')
      child.kill('SIGKILL')
      await closed
    }
  }
}

/** Returns SQL that records every change of a verdict in another table. */
const auditOf = (table: string): string => `
  CREATE TABLE ${table}_audit (id text, before text, after text);
  CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF OLD.verdict IS DISTINCT FROM NEW.verdict THEN
      INSERT INTO ${table}_audit VALUES (OLD.id, OLD.verdict, NEW.verdict);
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER audited AFTER UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION audit()`

describe.skipIf(skipsWithout('PostgreSQL and Redis', bothMissing))('awardOne as the body of a job', () => {
  const servers = startBoth()

  async function runJobs(
    label: string,
    start: (database: string, queue: string) => Promise<Enqueue>,
    withRedis: boolean,
  ) {
    const random = randomFor(label)
    const database = await ownDatabase(servers.postgres)
    const pool = new Pool({ connectionString: database, max: 2 })
    pool.on('error', () => undefined)
    onTestFinished(() => pool.end())
    await pool.query(postgresLedgerSchema())
    await pool.query(auditOf('campaign_awards'))
    const service: CampaignService = createCampaignService()
    const { url, close } = await service.listen()
    onTestFinished(close)
    // These calls take longer than the job timeout, so the queue gives the job to another worker, too.
    service.fail({ on: 'rewardWallet', kind: 'hang', times: HANGING_CALLS })
    for (let fault = 0; fault < JOBS / 2; fault++) {
      service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 0, times: 1 + random.below(3) })
      service.fail({ on: 'rewardWallet', ...FAULTS[random.below(FAULTS.length)] } as FaultOptions)
    }

    const queue = `awards_${randomUUID().slice(0, 8)}`
    const rows = awards(JOBS)
    const enqueue = await start(database, queue)
    // Some jobs are queued twice. A worker takes six jobs at once, and the first calls hang: the second job is `busy`.
    await enqueue(rows.slice(0, HANGING_CALLS).flatMap((row) => [row, row]))
    await enqueue([...rows.slice(HANGING_CALLS), ...rows.filter(() => random.below(4) === 0)])
    const task: WorkerTask = {
      queue,
      database,
      baseUrl: url,
      run: 'launch',
      ...(withRedis && { redis: servers.redis.url }),
    }
    const workers = new Workers(task)

    const settled = `SELECT count(*)::int AS count FROM campaign_awards WHERE verdict IS NOT NULL AND attempt IS NULL`
    const began = performance.now()
    for (let done = 0; done < JOBS; ) {
      await wait(30)
      done = (await pool.query(settled)).rows[0].count
      if (done < JOBS && done > (workers.kills * JOBS) / KILLS) await workers.killOne(random)
      expect(performance.now() - began, 'the jobs were not done in time').toBeLessThan(200_000)
    }
    // The queue delivers some jobs again after they are done.
    await enqueue(rows.slice(0, 10))
    await wait(1_500)
    await workers.end()

    const made = new Map<string, number>()
    for (const { id, xp } of service.state.awards) {
      expect(made.has(id), `${id} was made twice`).toBe(false)
      made.set(id, xp)
    }
    expect([...made].sort()).toEqual(rows.map(({ id, xp }) => [id, xp]).sort())
    const found = (await pool.query('SELECT id, verdict, xp FROM campaign_awards')).rows
    expect(found).toHaveLength(JOBS)
    for (const { id, verdict, xp } of found) {
      expect(['awarded', 'alreadyAwarded', 'unconfirmed'], id).toContain(verdict)
      expect(made.get(id)).toBe(xp)
    }
    // No verdict is lost. Only `unconfirmed` may change, to a verdict that knows more; a late 200 is recorded as `awarded`.
    const changes = (await pool.query('SELECT before, after FROM campaign_awards_audit')).rows
    for (const change of changes) {
      expect([
        { before: null, after: 'awarded' },
        { before: null, after: 'alreadyAwarded' },
        { before: null, after: 'unconfirmed' },
        { before: 'unconfirmed', after: 'alreadyAwarded' },
        { before: 'unconfirmed', after: 'awarded' },
        { before: 'alreadyAwarded', after: 'awarded' },
      ]).toContainEqual(change)
    }
    const requests = service.requests.filter(({ operation }) => operation === 'rewardWallet').length
    console.info(
      `${label}: ${JOBS} jobs, ${workers.kills} kills, ${requests} requests, ${JSON.stringify([...workers.unsettled])}, in ${Math.round(performance.now() - began)} ms`,
    )
    expect(workers.kills).toBeGreaterThan(1)
    expect(workers.unsettled.get('busy'), 'no job was busy').toBeGreaterThan(0)
  }

  type Enqueue = (rows: readonly AwardRow[]) => Promise<void>

  test('makes each award once in pg-boss, and overwrites no final verdict', async () => {
    const start = async (database: string, queue: string): Promise<Enqueue> => {
      const boss = new PgBoss({ connectionString: database, schema: queue, max: 2 })
      boss.on('error', () => undefined)
      await boss.start()
      onTestFinished(() => boss.stop({ graceful: false }))
      // After one second, another worker gets the job, even if the first one still works on it.
      await boss.createQueue(queue, { expireInSeconds: 1, retryLimit: 500, retryDelay: 1 })
      return async (rows) =>
        void (await boss.insert(
          queue,
          rows.map((data) => ({ data })),
        ))
    }
    await runJobs('pg-boss', start, false)
  })

  test('makes each award once in BullMQ, and overwrites no final verdict', async () => {
    const start = async (_: string, name: string): Promise<Enqueue> => {
      const connection = new Redis(servers.redis.url, { maxRetriesPerRequest: null })
      const queue = new Queue(name, { connection })
      onTestFinished(async () => {
        await queue.obliterate({ force: true }).catch(() => undefined)
        await queue.close()
        connection.disconnect()
      })
      const opts = { attempts: 1_000, backoff: { type: 'fixed', delay: 150 } }
      return async (rows) => void (await queue.addBulk(rows.map((data) => ({ name: 'award', data, opts }))))
    }
    await runJobs('BullMQ', start, true)
  })
})
