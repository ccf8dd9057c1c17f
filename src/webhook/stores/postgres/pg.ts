import { warnOnce } from '../../../shared/warn-once.ts'
import { type Database, ENDED, limitTransactions } from './database.ts'

/** The methods of a `PoolClient` of `pg` that `postgresStore` uses. */
export interface PgClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  on?(event: 'error', listener: (error: Error) => void): unknown
  off?(event: 'error', listener: (error: Error) => void): unknown
}

/** The members of a `Pool` of `pg` that `postgresStore` uses. */
export interface PgPool {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  /** Called with a callback, so that the store can add an error listener before the client fails. */
  connect(
    callback: (error: Error | undefined, client: PgClient | undefined, release: (destroy?: boolean) => void) => void,
  ): void
  /** `max`: the maximum number of connections. */
  readonly options?: { readonly max?: number | undefined }
  listenerCount?(event: 'error'): number
}

/** The type of the clients of a pool: the `PoolClient` of `pg`. */
export type ClientOf<Pool extends PgPool> = Pool extends {
  connect: { (): Promise<infer Client>; (callback: never): void }
}
  ? Client
  : PgClient

export function pgDatabase(pool: PgPool): Database {
  return {
    async query(text, ...values) {
      // Check at each query: a program may add its listener after it has created the store.
      if (pool.listenerCount?.('error') === 0) warnOnce('pg-pool-errors', NO_LISTENER)
      return (await pool.query(text, values)).rows
    },
    transaction: (work) =>
      limitTransactions(pool, pool.options?.max, async () => {
        const { client, release } = await connect(pool)
        let isBroken = false
        try {
          await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
          await work({
            query: async (text, ...values) => (await client.query(text, values)).rows,
            withClient: (apply) => withClient(client, apply),
          })
          await client.query('COMMIT')
        } catch (error) {
          await client.query('ROLLBACK').catch(() => {
            isBroken = true
          })
          throw error
        } finally {
          client.off?.('error', ignoreError)
          release(isBroken)
        }
      }),
  }
}

const NO_LISTENER =
  'postgresStore: add an error listener to the pg pool (pool.on("error", …)). Otherwise Node ends the process when an ' +
  'idle connection is lost.'

/**
 * Takes a client from the pool, and listens for its errors. The pool does not listen while a client is in use, and a lost
 * connection without a listener would end the process. The promise of `connect()` resolves too late: the connection may be
 * lost before the listener is added.
 */
function connect(pool: PgPool): Promise<{ client: PgClient; release: (destroy?: boolean) => void }> {
  return new Promise((resolve, reject) => {
    pool.connect((error, client, release) => {
      if (client === undefined) return reject(error)
      client.on?.('error', ignoreError)
      resolve({ client, release })
    })
  })
}

/** Does nothing: the next query on a lost connection rejects with the error. */
function ignoreError(): void {}

async function withClient<Result>(client: PgClient, apply: (tx: unknown) => Result): Promise<Awaited<Result>> {
  let hasEnded = false
  const tx = new Proxy(client, {
    get(target, name) {
      if (name === 'release') throw new Error('runOnce releases the connection itself: do not release tx')
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        if (!hasEnded) return Reflect.apply(member, target, args)
        if (name === 'query') return Promise.reject(new Error(ENDED))
        throw new Error(ENDED)
      }
    },
  })
  try {
    return await apply(tx)
  } finally {
    hasEnded = true
  }
}
