import type { Database } from './database.ts'

/** What `postgresStore` needs of a client that a `pg` pool lends. */
export interface PgClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[]; command: string }>
  release(destroy?: boolean): void
  on?(event: 'error', listener: (error: Error) => void): unknown
  off?(event: 'error', listener: (error: Error) => void): unknown
}

/** What `postgresStore` needs of a pool: the `Pool` of the `pg` package has it. */
export interface PgPool {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  connect(): Promise<PgClient>
}

/** The client that a pool of `pg` lends: its `PoolClient`. */
export type ClientOf<Pool extends PgPool> = Pool extends {
  connect: { (): Promise<infer Client>; (callback: never): void }
}
  ? Client
  : Awaited<ReturnType<Pool['connect']>>

export function pgDatabase(pool: PgPool): Database {
  return {
    query: async (text, ...values) => (await pool.query(text, values)).rows,
    async transaction(work) {
      const client = await pool.connect()
      // While it is lent, the pool does not listen: a connection lost in the middle would end the process.
      client.on?.('error', ignore)
      let usable = true
      try {
        await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
        await work(async (text, ...values) => (await client.query(text, values)).rows, client)
        const { command } = await client.query('COMMIT')
        // COMMIT of a transaction in which a statement failed succeeds as a ROLLBACK.
        if (command === 'ROLLBACK') {
          throw new Error(
            'runOnce committed nothing: a query in its function failed, and the function went on regardless',
          )
        }
      } catch (error) {
        usable = await client.query('ROLLBACK').then(
          () => true,
          () => false,
        )
        throw error
      } finally {
        client.off?.('error', ignore)
        client.release(!usable)
      }
    },
  }
}

/** What is wrong with the connection is what the next query on it rejects with. */
function ignore(): void {}
