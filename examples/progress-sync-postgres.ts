/**
 * Copies the progress of many users into PostgreSQL, a few users at once:
 *
 *   DATABASE_URL=postgres://… npx tsx examples/progress-sync-postgres.ts
 *
 * Each user is one statement that replaces what was there, so the program can be stopped and run again at any time.
 * Without DATABASE_URL it reads all the same, and prints the rows instead of writing them.
 */
import { CampaignClient, CampaignError, type UserProgress } from 'campaign-client'
import { createCampaignService, demoCampaign } from 'campaign-client/testing'
import { Pool } from 'pg'

const AT_ONCE = 4
const PID = 'crowd'

// A campaign of fifty users, in the box. Against the real service: its address, your token, your list of users.
const users = Array.from({ length: 50 }, (_, index) => ({
  account: `user-${index + 1}`,
  platform: 'discord',
  xp: index * 10,
  completed: index % 2 === 0 ? ['connect-wallet'] : [],
}))
const service = createCampaignService({ seed: 'crowd', campaigns: [{ ...demoCampaign, id: PID, users }] })
const client = new CampaignClient({
  baseUrl: 'https://service.example/api/v1',
  accessToken: 'any',
  fetch: service.fetch,
})
service.fail({ on: 'getUserProgress', kind: 'status', status: 503, times: 3 })

const { DATABASE_URL } = process.env
const pool = DATABASE_URL === undefined ? undefined : new Pool({ connectionString: DATABASE_URL, max: AT_ONCE })
pool?.on('error', (error) => console.error('lost an idle connection:', error.message))

await pool?.query(`CREATE TABLE IF NOT EXISTS campaign_progress (
  pid text NOT NULL,
  user_id text NOT NULL,
  total numeric NOT NULL,
  rank integer NOT NULL,
  team text,
  completed text[] NOT NULL,
  synced_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (pid, user_id)
)`)

async function store({ user_id, total, rank, team, actions }: UserProgress): Promise<void> {
  const completed = actions.filter((task) => task.status === 'completed').map((task) => task.id)
  if (pool === undefined) {
    console.log(user_id, total, rank, team || '(no team)', completed.join())
    return
  }
  await pool.query(
    `INSERT INTO campaign_progress (pid, user_id, total, rank, team, completed) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (pid, user_id) DO UPDATE SET total = excluded.total, rank = excluded.rank, team = excluded.team,
       completed = excluded.completed, synced_at = now()`,
    [PID, user_id, total, rank, team === '' ? null : team, completed],
  )
}

/** Runs `work` for every item, `AT_ONCE` at a time, and goes on when one fails. */
async function forEach<Item>(items: Iterable<Item>, work: (item: Item) => Promise<void>): Promise<void> {
  const queue = items[Symbol.iterator]()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = queue.next(); !next.done; next = queue.next()) await work(next.value)
    }),
  )
}

let synced = 0
const failed: string[] = []
await forEach(users, async ({ account, platform }) => {
  try {
    await store(await client.getUserProgress({ account, platform, pid: PID }))
    synced += 1
  } catch (error) {
    // A user that can't be read is left for the next run; a database that can't be written ends this one.
    if (!(error instanceof CampaignError)) throw error
    failed.push(`${account}: ${error.code}`)
  }
})

console.log(
  `${synced} users ${pool ? 'written' : 'read'}, ${failed.length} failed${failed.map((line) => `\n  ${line}`).join('')}`,
)
if (pool) {
  const { rows } = await pool.query(
    'SELECT count(*)::int AS users, sum(total)::int AS xp FROM campaign_progress WHERE pid = $1',
    [PID],
  )
  console.log(`the table holds ${rows[0].users} users with ${rows[0].xp} XP`)
  await pool.end()
}
