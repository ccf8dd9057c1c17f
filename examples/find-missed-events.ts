/**
 * Finds the completions that no webhook reported: reads every member's
 * progress, a few at once, compares it with the last reading, and passes new
 * completions to the same code as the webhook. For a nightly job:
 *
 *   DATABASE_URL=postgres://… CAMPAIGN_BASE_URL=https://…/api/v1 \
 *     CAMPAIGN_ACCESS_TOKEN=… CAMPAIGN_PID=… \
 *     npx tsx examples/find-missed-events.ts
 *
 * Each completion counts once, whichever way it comes first, also when both
 * come at the same moment. The program may be killed at any point and run
 * again: a reading and its completions are committed together.
 */
import { argv, env, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import {
  CampaignClient,
  CampaignError,
  type ProgressChange,
  progressChanges,
  type UserProgress,
} from 'campaign-client'
import {
  createWebhookReceiver,
  type WebhookReceiver,
} from 'campaign-client/webhook'
import { postgresSchema, postgresStore } from 'campaign-client/webhook/postgres'
import { Pool, type PoolClient } from 'pg'

const AT_ONCE = 4
const FAILURES_IN_A_ROW = 20
/** What you give for a completion. */
const COINS = { task: 10, quest: 50, challenge: 100 }
/**
 * Tasks of your campaign that count each time. Two readings don't tell how
 * often; for those the webhook alone counts.
 */
const RECURRING = new Set(['daily-visit'])

/**
 * In production these belong into a migration, beside the table of the
 * receiver's store.
 */
const TABLES = `
  -- for two programs that start at once
  SELECT pg_advisory_xact_lock(hashtext('members'));
  CREATE TABLE IF NOT EXISTS members (
    member_id text PRIMARY KEY,
    account text NOT NULL, platform text NOT NULL, -- what the client asks for
    webhook_user text NOT NULL UNIQUE, -- what messages call the same person
    coins integer NOT NULL DEFAULT 0
  );
  CREATE TABLE IF NOT EXISTS readings (
    pid text, member_id text REFERENCES members,
    reading json NOT NULL, version integer NOT NULL,
    PRIMARY KEY (pid, member_id)
  );
  CREATE TABLE IF NOT EXISTS completions (
    pid text, member_id text REFERENCES members, key text,
    found_by text NOT NULL, counted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (pid, member_id, key)
  );`

export async function createTables(pool: Pool): Promise<void> {
  await pool.query(postgresSchema())
  await pool.query(TABLES)
}

interface Completion {
  readonly what: keyof typeof COINS
  readonly id: string
}

/**
 * Counts a completion once for ever, in the caller's transaction. The primary
 * key decides who was first.
 */
async function count(
  tx: PoolClient,
  { what, id }: Completion,
  {
    pid,
    memberId,
    foundBy,
    message,
  }: { pid: string; memberId: string; foundBy: string; message?: string },
): Promise<boolean> {
  const key = JSON.stringify(
    message !== undefined && RECURRING.has(id)
      ? [what, id, message]
      : [what, id],
  )
  const { rowCount } = await tx.query(
    `INSERT INTO completions (pid, member_id, key, found_by)
     VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
    [pid, memberId, key, foundBy],
  )
  if (rowCount === 0) return false
  await tx.query('UPDATE members SET coins = coins + $2 WHERE member_id = $1', [
    memberId,
    COINS[what],
  ])
  return true
}

/** The receiver, to be mounted in your server. */
export function campaignReceiver(pool: Pool, secret: string): WebhookReceiver {
  return createWebhookReceiver({
    endpoint: 'completions',
    secret,
    store: postgresStore(pool),
    async handle(event) {
      if (event.kind === 'unknown') return
      const { user, campaign, event: activity } = event.payload
      // The interface does not show what a message about a quest holds. One
      // that does not name it is left to the search.
      const { action } = activity.data
      if (action === undefined) return
      const completion = {
        what: event.kind === 'quest_completed' ? 'quest' : 'task',
        id: action.id,
      } as const
      await transaction(pool, async (tx) => {
        // One row per member is locked first, here and in the search, so that
        // the two can't lock each other out.
        const { rows } = await tx.query(
          'SELECT member_id FROM members WHERE webhook_user = $1 FOR UPDATE',
          [user],
        )
        if (rows.length === 0)
          throw new Error(`no member is known as ${user} in webhooks`)
        const where = {
          pid: campaign.id,
          memberId: rows[0].member_id,
          foundBy: 'webhook',
          message: event.id,
        }
        await count(tx, completion, where)
      })
    },
  })
}

function completionOfChange(change: ProgressChange): Completion | undefined {
  switch (change.kind) {
    case 'task_completed':
      return RECURRING.has(change.id)
        ? undefined
        : { what: 'task', id: change.id }
    case 'quest_completed':
      return { what: 'quest', id: change.id }
    case 'challenge_completed':
      return { what: 'challenge', id: change.id }
    default:
      return undefined
  }
}

interface Member {
  readonly member_id: string
  readonly account: string
  readonly platform: string
}

interface Search {
  readonly pool: Pool
  readonly client: Pick<CampaignClient, 'getUserProgress'>
  readonly pid: string
}

export interface SearchReport {
  /** Members whose progress was read and stored. */
  read: number
  /** Completions that no webhook had told of. */
  found: number
  /** Members who are left for the next run, and why. */
  failed: string[]
}

/**
 * Searches all members. One that can't be read is left for the next run; what
 * would fail for all of them ends this one.
 */
export async function findMissedEvents(search: Search): Promise<SearchReport> {
  const report: SearchReport = { read: 0, found: 0, failed: [] }
  const members = allMembers(search.pool)
  let failuresInARow = 0

  // The workers share one queue. One that throws closes it, and the others end
  // with the member they are at.
  const work = async (): Promise<void> => {
    for await (const member of members) {
      try {
        const found = await searchMember(search, member)
        report.found += found
        report.read += 1
        failuresInARow = 0
      } catch (error) {
        failuresInARow += 1
        if (
          !(error instanceof CampaignError) ||
          failuresInARow === FAILURES_IN_A_ROW ||
          concernsAll(error)
        )
          throw error
        report.failed.push(`${member.member_id}: ${error.message}`)
      }
    }
  }
  const workers = await Promise.allSettled(
    Array.from({ length: AT_ONCE }, work),
  )
  for (const worker of workers)
    if (worker.status === 'rejected') throw worker.reason
  return report
}

const concernsAll = ({ code }: CampaignError): boolean =>
  ['unauthorized', 'access_denied', 'access_token', 'configuration'].includes(
    code,
  )

async function* allMembers(
  pool: Pool,
): AsyncGenerator<Member, void, undefined> {
  for (let last = ''; ; ) {
    const { rows } = await pool.query<Member>(
      `SELECT member_id, account, platform FROM members
       WHERE member_id > $1 ORDER BY member_id LIMIT 100`,
      [last],
    )
    if (rows.length === 0) return
    yield* rows
    last = rows.at(-1)?.member_id ?? ''
  }
}

/**
 * Reads one member and counts what is new; gives how much that was. The first
 * reading is a baseline and counts nothing: call this when somebody joins, and
 * not only the night after.
 */
export async function searchMember(
  { pool, client, pid }: Search,
  member: Member,
): Promise<number> {
  const { member_id: memberId, account, platform } = member
  const { rows } = await pool.query<{ reading: UserProgress; version: number }>(
    'SELECT reading, version FROM readings WHERE pid = $1 AND member_id = $2',
    [pid, memberId],
  )
  const [last] = rows
  const reading = await client.getUserProgress({ account, platform, pid })
  // An entry that was made anew has nothing to compare with: another baseline.
  const changes = progressChanges(
    last?.reading.id === reading.id ? last.reading : undefined,
    reading,
  )

  return transaction(pool, async (tx) => {
    await tx.query('SELECT FROM members WHERE member_id = $1 FOR UPDATE', [
      memberId,
    ])
    const stored = await tx.query(
      `INSERT INTO readings AS kept (pid, member_id, reading, version)
       VALUES ($1, $2, $3, 1)
       ON CONFLICT (pid, member_id) DO UPDATE
       SET reading = excluded.reading, version = kept.version + 1
         WHERE kept.version = $4`,
      [pid, memberId, JSON.stringify(reading), last?.version ?? 0],
    )
    // Another search stored its reading in between, and has counted.
    if (stored.rowCount === 0) return 0
    let found = 0
    for (const change of changes) {
      const completion = completionOfChange(change)
      if (completion === undefined) continue
      if (await count(tx, completion, { pid, memberId, foundBy: 'search' }))
        found += 1
    }
    return found
  })
}

async function transaction<Result>(
  pool: Pool,
  work: (tx: PoolClient) => Promise<Result>,
): Promise<Result> {
  const tx = await pool.connect()
  let broken = true
  try {
    await tx.query('BEGIN')
    const result = await work(tx)
    await tx.query('COMMIT')
    broken = false
    return result
  } finally {
    // A connection that is not given back in order is closed, and the server
    // rolls back what was open on it.
    tx.release(broken)
  }
}

export function openPool(connectionString: string): Pool {
  const pool = new Pool({
    connectionString,
    connectionTimeoutMillis: 5000,
    max: AT_ONCE,
  })
  // Node ends a process when a connection without a listener is lost, whether
  // it is idle or lent.
  pool.on('error', (error) =>
    console.error('lost an idle connection:', error.message),
  )
  pool.on('connect', (client) =>
    client.on('error', (error) =>
      console.error('lost a connection:', error.message),
    ),
  )
  return pool
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const {
    DATABASE_URL,
    CAMPAIGN_BASE_URL,
    CAMPAIGN_ACCESS_TOKEN,
    CAMPAIGN_PID,
  } = env
  if (
    !DATABASE_URL ||
    !CAMPAIGN_BASE_URL ||
    !CAMPAIGN_ACCESS_TOKEN ||
    !CAMPAIGN_PID
  ) {
    console.error(
      'Set DATABASE_URL, CAMPAIGN_BASE_URL, CAMPAIGN_ACCESS_TOKEN ' +
        'and CAMPAIGN_PID.',
    )
    exit(2)
  }
  const client = new CampaignClient({
    baseUrl: CAMPAIGN_BASE_URL,
    accessToken: CAMPAIGN_ACCESS_TOKEN,
  })
  const pool = openPool(DATABASE_URL)
  try {
    await createTables(pool)
    const { read, found, failed } = await findMissedEvents({
      pool,
      client,
      pid: CAMPAIGN_PID,
    })
    console.log(
      `${read} members read, ${found} completions found that no webhook ` +
        `had told of, ${failed.length} failed`,
    )
    for (const line of failed) console.error(line)
    // Whoever runs this job learns that it has to run again.
    if (failed.length > 0) process.exitCode = 1
  } finally {
    await pool.end()
  }
}
