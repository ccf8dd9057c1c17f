/**
 * A copy of users' progress in SQLite, with a list of what changed. Run it every
 * night, one run at a time. The arguments are accounts to add:
 *
 *   npm pkg set type=module
 *   npm install tsx@4
 *   export CAMPAIGN_BASE_URL=… CAMPAIGN_ACCESS_TOKEN=…
 *   npx tsx nightly-mirror.ts ada grace linus
 *   npx tsx nightly-mirror.ts
 *
 * You can stop the program at any point and run it again: the progress of a
 * user and its changes are committed together. Needs only the package
 * campaign-client.
 */
import { argv, env, exit } from 'node:process'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import {
  CampaignClient,
  progressChanges,
  type UserProgress,
} from 'campaign-client'
import { readProgress } from 'campaign-client/bulk'

const TABLES = `
  CREATE TABLE IF NOT EXISTS users (
    account TEXT PRIMARY KEY,
    progress TEXT, -- JSON; null before the first reading
    read_at TEXT
  ) STRICT;
  CREATE TABLE IF NOT EXISTS changes (
    account TEXT NOT NULL,
    kind TEXT NOT NULL,
    change TEXT NOT NULL, -- JSON
    found_at TEXT NOT NULL
  ) STRICT;`

export function openMirror(file: string): DatabaseSync {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL')
  database.exec(TABLES)
  return database
}

export function addUsers(
  database: DatabaseSync,
  accounts: readonly string[],
): void {
  const insert = database.prepare(
    'INSERT INTO users (account) VALUES (?) ON CONFLICT DO NOTHING',
  )
  for (const account of accounts) insert.run(account)
}

export interface MirrorOptions {
  readonly database: DatabaseSync
  readonly client: Pick<CampaignClient, 'getUserProgress'>
  readonly pid: string
  readonly platform: string
}

export interface MirrorReport {
  /** Users whose progress was read and stored. */
  read: number
  /** Changes that were found. */
  changes: number
  /** Users whose progress could not be read, with the error. */
  failed: string[]
}

/**
 * Reads the progress of all users, and stores it with its changes. If the
 * progress of a user cannot be read, the next run finds the changes.
 */
export async function updateMirror({
  database,
  client,
  pid,
  platform,
}: MirrorOptions): Promise<MirrorReport> {
  const report: MirrorReport = { read: 0, changes: 0, failed: [] }
  const rows = database.prepare('SELECT account FROM users').all()
  const users = rows.map(({ account }) => ({
    account: String(account),
    platform,
    pid,
  }))
  for await (const { user, progress, error } of readProgress(client, users)) {
    if (error !== undefined) {
      report.failed.push(`${user.account}: ${error.message}`)
      continue
    }
    report.changes += storeProgress(database, user.account, progress)
    report.read += 1
  }
  return report
}

/** Stores the progress of a user and its changes. Returns their number. */
function storeProgress(
  database: DatabaseSync,
  account: string,
  progress: UserProgress,
): number {
  const now = new Date().toISOString()
  database.exec('BEGIN IMMEDIATE')
  try {
    const before = storedProgress(database, account)
    // Another user's XP also changes a rank. The rank is in `progress`.
    const changes = progressChanges(
      before?.id === progress.id ? before : null,
      progress,
    ).filter(({ kind }) => kind !== 'rank_changed')
    const insert = database.prepare('INSERT INTO changes VALUES (?, ?, ?, ?)')
    for (const change of changes)
      insert.run(account, change.kind, JSON.stringify(change), now)
    database
      .prepare('UPDATE users SET progress = ?, read_at = ? WHERE account = ?')
      .run(JSON.stringify(progress), now, account)
    database.exec('COMMIT')
    return changes.length
  } catch (error) {
    database.exec('ROLLBACK')
    throw error
  }
}

function storedProgress(
  database: DatabaseSync,
  account: string,
): UserProgress | null {
  const row = database
    .prepare('SELECT progress FROM users WHERE account = ?')
    .get(account)
  return JSON.parse(String(row?.progress ?? null))
}

async function main(): Promise<void> {
  const { CAMPAIGN_BASE_URL, CAMPAIGN_ACCESS_TOKEN } = env
  const { CAMPAIGN_PID = 'demo', DATABASE_FILE = 'mirror.db' } = env
  if (!CAMPAIGN_BASE_URL || !CAMPAIGN_ACCESS_TOKEN) {
    console.error('Set CAMPAIGN_BASE_URL and CAMPAIGN_ACCESS_TOKEN.')
    exit(2)
  }
  const client = new CampaignClient({
    baseUrl: CAMPAIGN_BASE_URL,
    accessToken: CAMPAIGN_ACCESS_TOKEN,
  })
  const database = openMirror(DATABASE_FILE)
  addUsers(database, argv.slice(2))
  const { read, changes, failed } = await updateMirror({
    database,
    client,
    pid: CAMPAIGN_PID,
    platform: 'discord',
  })
  console.log(
    `${read} users read, ${changes} changes found, ${failed.length} failed`,
  )
  for (const line of failed) console.error(line)
  // A scheduler sees the exit code and can run the job again.
  if (failed.length > 0) process.exitCode = 1
}

if (argv[1] === fileURLToPath(import.meta.url)) await main()
