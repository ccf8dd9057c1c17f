/**
 * Finds completed tasks, quests and challenges that no webhook reported. Reads
 * the progress of every member, compares it with the previous reading, and
 * counts the new completions. Run it every night:
 *
 *   npm pkg set type=module
 *   npm install tsx@4 pg@8
 *   DATABASE_URL=postgres://… CAMPAIGN_BASE_URL=https://…/api/v1 \
 *     CAMPAIGN_ACCESS_TOKEN=… CAMPAIGN_PID=… \
 *     npx tsx find-missed-events.ts
 *
 * The webhook receiver below counts completions in the same table. Each
 * completion counts once, even if both find it at the same time. You can stop
 * the program at any point and run it again: a reading and its completions are
 * committed together.
 */
import { argv, env, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import {
  CampaignClient,
  type ProgressChange,
  progressChanges,
  type UserProgress,
} from 'campaign-client'
import { readProgress } from 'campaign-client/bulk'
import {
  createWebhookReceiver,
  type WebhookReceiver,
} from 'campaign-client/webhook'
import { postgresSchema, postgresStore } from 'campaign-client/webhook/postgres'
import { Pool, type PoolClient } from 'pg'

const CONCURRENCY = 4
/** The reward for a completion, in your own currency. */
const COINS = { task: 10, quest: 50, challenge: 100 }
/**
 * Tasks of your campaign that can be completed many times. Only the webhook
 * counts them: two readings do not show how often a task was completed.
 */
const RECURRING = new Set(['daily-visit'])

/** In production, create these tables in a migration. */
const TABLES = `
  -- one process at a time creates the tables
  SELECT pg_advisory_xact_lock(hashtext('members'));
  CREATE TABLE IF NOT EXISTS members (
    member_id text PRIMARY KEY,
    account text NOT NULL, platform text NOT NULL, -- arguments of the calls
    webhook_user text NOT NULL UNIQUE, -- the field user of webhook messages
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
  readonly kind: keyof typeof COINS
  readonly id: string
}

/**
 * Counts a completion in the caller's transaction. Returns false if it was
 * counted before: the primary key refuses a second row.
 */
async function count(
  tx: PoolClient,
  { kind, id }: Completion,
  {
    pid,
    memberId,
    foundBy,
    message,
  }: { pid: string; memberId: string; foundBy: string; message?: string },
): Promise<boolean> {
  const key = JSON.stringify(
    message !== undefined && RECURRING.has(id)
      ? [kind, id, message]
      : [kind, id],
  )
  const { rowCount } = await tx.query(
    `INSERT INTO completions (pid, member_id, key, found_by)
     VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
    [pid, memberId, key, foundBy],
  )
  if (rowCount === 0) return false
  await tx.query('UPDATE members SET coins = coins + $2 WHERE member_id = $1', [
    memberId,
    COINS[kind],
  ])
  return true
}

/** Returns the webhook receiver. Mount it in your server. */
export function campaignReceiver(pool: Pool, secret: string): WebhookReceiver {
  return createWebhookReceiver({
    endpoint: 'completions',
    secret,
    store: postgresStore(pool),
    async handle(event) {
      if (event.kind === 'unknown') return
      const { user, campaign, event: activity } = event.payload
      // The service does not document the messages of quests. If a message has
      // no `action`, the nightly search finds the completion.
      const { action } = activity.data
      if (action === undefined) return
      const completion = {
        kind: event.kind === 'quest_completed' ? 'quest' : 'task',
        id: action.id,
      } as const
      await transaction(pool, async (tx) => {
        // Receiver and search lock the member's row first, so that they cannot
        // deadlock.
        const { rows } = await tx.query(
          'SELECT member_id FROM members WHERE webhook_user = $1 FOR UPDATE',
          [user],
        )
        if (rows.length === 0)
          throw new Error(`no member has the webhook user ${user}`)
        const source = {
          pid: campaign.id,
          memberId: rows[0].member_id,
          foundBy: 'webhook',
          message: event.id,
        }
        await count(tx, completion, source)
      })
    },
  })
}

function completionOfChange(change: ProgressChange): Completion | undefined {
  switch (change.kind) {
    case 'task_completed':
      return RECURRING.has(change.id)
        ? undefined
        : { kind: 'task', id: change.id }
    case 'quest_completed':
      return { kind: 'quest', id: change.id }
    case 'challenge_completed':
      return { kind: 'challenge', id: change.id }
    default:
      return undefined
  }
}

interface Search {
  readonly pool: Pool
  readonly client: Pick<CampaignClient, 'getUserProgress'>
  readonly pid: string
  /** Searches only this member. Without it, the search reads all members. */
  readonly memberId?: string
}

export interface SearchReport {
  /** Members whose progress was read and stored. */
  read: number
  /** Completions that no webhook reported. */
  found: number
  /** Members whose progress could not be read, with the error. */
  failed: string[]
}

/**
 * Reads the progress of the members, stores it and counts new completions. The
 * first reading of a member counts nothing, so search a member as soon as they
 * join. If a member's progress cannot be read, the next run tries again.
 */
export async function findMissedEvents(search: Search): Promise<SearchReport> {
  const report: SearchReport = { read: 0, found: 0, failed: [] }
  const members = membersOf(search)
  for await (const { user, progress, error } of readProgress(
    search.client,
    members,
    { concurrency: CONCURRENCY },
  )) {
    if (error !== undefined) {
      report.failed.push(`${user.member_id}: ${error.message}`)
      continue
    }
    report.found += await storeReading(search.pool, user, progress)
    report.read += 1
  }
  return report
}

/** A member with the last reading. */
interface Member {
  readonly member_id: string
  readonly account: string
  readonly platform: string
  readonly pid: string
  readonly reading: UserProgress | null
  /** The number of readings so far. */
  readonly version: number
}

async function* membersOf({
  pool,
  pid,
  memberId,
}: Search): AsyncGenerator<Member, void, undefined> {
  for (let last = ''; ; ) {
    const { rows } = await pool.query<Member>(
      `SELECT m.member_id, account, platform, $1::text AS pid,
         reading, coalesce(version, 0) AS version
       FROM members m LEFT JOIN readings r
         ON r.member_id = m.member_id AND r.pid = $1
       WHERE m.member_id > $2 AND ($3::text IS NULL OR m.member_id = $3)
       ORDER BY m.member_id LIMIT 100`,
      [pid, last, memberId ?? null],
    )
    if (rows.length === 0) return
    yield* rows
    last = rows.at(-1)?.member_id ?? ''
  }
}

/** Stores a reading and counts its new completions. Returns their number. */
function storeReading(
  pool: Pool,
  member: Member,
  progress: UserProgress,
): Promise<number> {
  const { member_id: memberId, pid, reading, version } = member
  // With a new entry ID, this is the first reading of a new entry.
  const before = reading?.id === progress.id ? reading : undefined
  const changes = progressChanges(before, progress)

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
      [pid, memberId, JSON.stringify(progress), version],
    )
    // Another search has stored a newer reading and counted its completions.
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
    // After an error, close the connection: the server rolls back the
    // transaction.
    tx.release(broken)
  }
}

export function openPool(connectionString: string): Pool {
  const pool = new Pool({
    connectionString,
    connectionTimeoutMillis: 5000,
    max: CONCURRENCY,
  })
  // Without these listeners, a lost connection ends the process.
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
      `${read} members read, ${found} missed completions found, ` +
        `${failed.length} members failed`,
    )
    for (const line of failed) console.error(line)
    // A scheduler sees the exit code and can run the job again.
    if (failed.length > 0) process.exitCode = 1
  } finally {
    await pool.end()
  }
}
