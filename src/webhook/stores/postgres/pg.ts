import { warnOnce } from '../../../shared/warn-once.ts'
import { type Database, ENDED, limitTransactions } from './database.ts'

/** What `postgresStore` needs of a client that a `pg` pool lends. */
export interface PgClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  on?(event: 'error', listener: (error: Error) => void): unknown
  off?(event: 'error', listener: (error: Error) => void): unknown
}

/** What `postgresStore` needs of a pool: the `Pool` of the `pg` package has it. */
export interface PgPool {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  /** Lends a client. Called with a callback, so that a listener of errors is added before the client can fail. */
  connect(
    callback: (error: Error | undefined, client: PgClient | undefined, release: (destroy?: boolean) => void) => void,
  ): void
  /** `max`: how many connections the pool has. */
  readonly options?: { readonly max?: number | undefined }
  listenerCount?(event: 'error'): number
}

/** The type of the clients that a pool of `pg` lends: its `PoolClient`. */
export type ClientOf<Pool extends PgPool> = Pool extends {
  connect: { (): Promise<infer Client>; (callback: never): void }
}
  ? Client
  : PgClient

export function pgDatabase(pool: PgPool): Database {
  return {
    async query(text, ...values) {
      // Checked here because the program may add its listener after it created the store.
      if (pool.listenerCount?.('error') === 0) warnOnce('pg-pool-errors', NO_LISTENER)
      return (await pool.query(text, values)).rows
    },
    transaction: (work) =>
      limitTransactions(pool, pool.options?.max, async () => {
        const { client, release } = await borrow(pool)
        let isBroken = false
        try {
          await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
          await work({
            query: async (text, ...values) => (await client.query(text, values)).rows,
            lend: (apply) => lend(client, apply),
          })
          await client.query('COMMIT')
        } catch (error) {
          await client.query('ROLLBACK').catch(() => {
            isBroken = true
          })
          throw error
        } finally {
          client.off?.('error', ignore)
          release(isBroken)
        }
      }),
  }
}

const NO_LISTENER =
  'postgresStore: listen for errors of the pg pool (pool.on("error", …)). Otherwise Node ends the process when an idle ' +
  'connection is lost.'

interface Borrowed {
  client: PgClient
  release: (destroy?: boolean) => void
}

/**
 * Borrows a client, and listens for its errors: the pool does not listen while a client is lent, and a lost connection
 * without a listener would end the process. A promise of `connect()` would settle too late to add the listener.
 */
function borrow(pool: PgPool): Promise<Borrowed> {
  return new Promise((resolve, reject) => {
    pool.connect((error, client, release) => {
      if (client === undefined) {
        reject(error)
        return
      }
      client.on?.('error', ignore)
      resolve({ client, release })
    })
  })
}

/** The next query on a broken connection rejects with the error. */
function ignore(): void {}

async function lend<Result>(client: PgClient, apply: (tx: unknown) => Result): Promise<Awaited<Result>> {
  let isOver = false
  const tx = new Proxy(client, {
    get(target, name) {
      if (name === 'release') throw new Error('runOnce releases the connection itself: do not release tx')
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        if (!isOver) return Reflect.apply(member, target, args)
        if (name === 'query' && typeof args.at(-1) !== 'function') return Promise.reject(new Error(ENDED))
        throw new Error(ENDED)
      }
    },
  })
  try {
    return await apply(tx)
  } finally {
    isOver = true
  }
}
