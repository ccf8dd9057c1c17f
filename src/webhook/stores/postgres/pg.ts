import { warnOnce } from '../../../shared/warn-once.ts'
import { type Database, ENDED } from './database.ts'
import { transactionGate } from './gate.ts'

/** What `postgresStore` needs of a client that a `pg` pool lends. */
export interface PgClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  on?(event: 'error', listener: (error: Error) => void): unknown
  off?(event: 'error', listener: (error: Error) => void): unknown
}

/** What `postgresStore` needs of a pool: the `Pool` of the `pg` package has it. */
export interface PgPool {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  /** Lends a client in the turn in which the callback is called, so that it is never without a listener of errors. */
  connect(
    callback: (error: Error | undefined, client: PgClient | undefined, release: (destroy?: boolean) => void) => void,
  ): void
  /** `max` is how many connections the pool has. */
  readonly options?: { readonly max?: number | undefined }
  listenerCount?(event: 'error'): number
}

/** The client that a pool of `pg` lends: its `PoolClient`. */
export type ClientOf<Pool extends PgPool> = Pool extends {
  connect: { (): Promise<infer Client>; (callback: never): void }
}
  ? Client
  : PgClient

export function pgDatabase(pool: PgPool): Database {
  const gate = transactionGate(pool, pool.options?.max)
  return {
    async query(text, ...values) {
      // Not earlier: the program may listen after it has made the store.
      if (pool.listenerCount?.('error') === 0) warnOnce('pg-pool-errors', NO_LISTENER)
      return (await pool.query(text, values)).rows
    },
    transaction: (work) =>
      gate.pass(async () => {
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
 * While a client is lent, the pool does not listen for its errors: a connection lost in the middle would end the process.
 * The pool stops listening when it calls back, and a promise would be kept one turn later; so this listens in the callback.
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

/** What is wrong with the connection is what the next query on it rejects with. */
function ignore(): void {}

async function lend<Result>(client: PgClient, apply: (tx: unknown) => Result): Promise<Awaited<Result>> {
  let isOver = false
  const tx = new Proxy(client, {
    get(target, name) {
      if (name === 'release') throw new Error('runOnce gives the connection back by itself: do not release tx')
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
