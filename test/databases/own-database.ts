import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { expect, onTestFinished, vi } from 'vitest'
import type { Database } from './database.ts'

/** Creates an empty database, which is dropped after the test. @returns its address */
export async function ownDatabase(server: Database): Promise<string> {
  const admin = new Pool({ connectionString: server.url, max: 1 })
  onTestFinished(() => admin.end())
  const name = `example_${randomUUID().replaceAll('-', '')}`
  await admin.query(`CREATE DATABASE ${name}`)
  onTestFinished(async () => {
    // Wait until the clients are closed: otherwise they report a lost connection.
    await vi.waitFor(() => expectNoClients(admin, name), { timeout: 2_000, interval: 20 }).catch(() => undefined)
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
  })
  const url = new URL(server.url)
  url.pathname = `/${name}`
  return url.href
}

async function expectNoClients(admin: Pool, database: string): Promise<void> {
  expect((await admin.query('SELECT FROM pg_stat_activity WHERE datname = $1', [database])).rowCount).toBe(0)
}
