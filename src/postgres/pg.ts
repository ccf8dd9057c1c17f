import { withTimeLimit } from '../shared/timers.ts'
import { hasMethod } from '../shared/type-checks.ts'
import { warnOnce } from '../shared/warn-once.ts'
import {
  ENDED,
  isLostSession,
  isReadOnly,
  LEAVE_REPLICA,
  type PostgresDriver,
  type PostgresOptions,
  type PostgresTransaction,
  type Query,
  type Row,
  readRows,
  SilentConnectionError,
  tookTooLong,
  unreadable,
} from './database.ts'

/** The methods of a `PoolClient` of `pg` that this package uses. */
export interface PgClient {
  /** Runs a statement. */
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  /** Adds an error listener. */
  on?(event: 'error', listener: (error: Error) => void): unknown
  /** Removes an error listener. */
  off?(event: 'error', listener: (error: Error) => void): unknown
}

/** The members of a `Pool` of `pg` that this package uses. */
export interface PgPool {
  /** Runs a statement on any connection. */
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  /** Called with a callback, which can add an error listener before the client fails. */
  connect(
    callback: (error: Error | undefined, client: PgClient | undefined, release: (destroy?: boolean) => void) => void,
  ): void
  /** `max`: the maximum number of connections. */
  readonly options?: { readonly max?: number | undefined }
  /** Returns the number of error listeners. */
  listenerCount?(event: 'error'): number
}

/** The client of a pool: `PoolClient` in `pg`. */
export type ClientOf<Pool extends PgPool> = Pool extends {
  connect: { (): Promise<infer Client>; (callback: never): void }
}
  ? Client
  : PgClient

export function pgDatabase(pool: PgPool, options: PostgresOptions): PostgresDriver {
  async function withConnection<Result>(work: (connection: PgConnection) => Promise<Result>): Promise<Result> {
    const connection = await PgConnection.from(pool, options)
    try {
      return await work(connection)
    } catch (error) {
      if (isReadOnly(error)) await connection.leaveReplica()
      if (isLostSession(error)) connection.discard()
      throw error
    } finally {
      connection.release()
    }
  }
  return {
    query(text, ...values) {
      // Check at each query: a program may add its listener after it has created the store.
      if (pool.listenerCount?.('error') === 0) warnOnce('pg-pool-errors', noListener(options.name))
      return withConnection((connection) => connection.query(text, ...values))
    },
    transaction: (work) =>
      withConnection(async (connection) => {
        try {
          await connection.query('BEGIN ISOLATION LEVEL READ COMMITTED')
          await work(connection)
          await connection.query('COMMIT')
        } catch (error) {
          await connection.rollBack()
          throw error
        }
      }),
    hadNoEffect: isReadOnly,
  }
}

const noListener = (name: string): string =>
  `${name}: add an error listener to the pg pool (pool.on("error", …)). Otherwise Node ends the process when an idle ` +
  'connection is lost.'

/** A connection of the pool, until it is released. */
class PgConnection implements PostgresTransaction {
  readonly #client: PgClient
  readonly #release: (destroy: boolean) => void
  readonly #options: PostgresOptions
  /** Whether the pool must close the connection. */
  #isBroken = false

  private constructor(client: PgClient, release: (destroy?: boolean) => void, options: PostgresOptions) {
    this.#client = client
    this.#release = release
    this.#options = options
    // The pool does not listen while a client is in use, and a lost connection without a listener would end the process.
    client.on?.('error', ignoreError)
  }

  /** Takes a connection from the pool. The promise of `pool.connect()` would resolve too late for the error listener. */
  static from(pool: PgPool, options: PostgresOptions): Promise<PgConnection> {
    return new Promise((resolve, reject) => {
      let isCalled = false
      const connecting: unknown = pool.connect((error, client, release) => {
        isCalled = true
        const isClient = hasMethod(client, 'query') && typeof release === 'function'
        if (isClient) resolve(new PgConnection(client as PgClient, release, options))
        else reject(error ?? unreadable(options))
      })
      // Pools of other packages do not call the callback, but return a promise of a connection.
      if (!hasMethod(connecting, 'then')) return
      Promise.resolve(connecting).then((connection) => {
        if (isCalled || connection === undefined) return
        if (hasMethod(connection, 'release')) (connection as { release(): void }).release()
        reject(unreadable(options))
      }, reject)
    })
  }

  async query(...[text, ...values]: Parameters<Query> | [transaction: string]): Promise<readonly Row[]> {
    const response = Promise.resolve(this.#client.query(text, values))
    const result = await withTimeLimit(response, this.#options.statementTimeoutMs, () => {
      this.#isBroken = true
      return new SilentConnectionError(this.#options)
    })
    // The client may be of another package, whose result is undefined.
    return readRows(result?.rows, this.#options)
  }

  async withClient<Result>(apply: (tx: unknown) => Result, maxRunMs: number): Promise<Awaited<Result>> {
    let hasEnded = false
    const tx = new Proxy(this.#client, {
      get(client, name) {
        if (name === 'release') throw new Error('runOnce releases the connection itself: do not release tx')
        const member: unknown = Reflect.get(client, name, client)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          if (!hasEnded) return Reflect.apply(member, client, args)
          if (name === 'query') return Promise.reject(new Error(ENDED))
          throw new Error(ENDED)
        }
      },
    })
    try {
      return await withTimeLimit((async () => apply(tx))(), maxRunMs, () => {
        // A query of `apply` may still be running.
        this.#isBroken = true
        return tookTooLong(maxRunMs)
      })
    } finally {
      hasEnded = true
    }
  }

  async rollBack(): Promise<void> {
    if (this.#isBroken) return
    await this.query('ROLLBACK').catch(() => {
      this.#isBroken = true
    })
  }

  /** Ends the session on a replica. The pool then opens another connection. */
  async leaveReplica(): Promise<void> {
    if (!this.#isBroken) await this.query(...LEAVE_REPLICA).catch(() => undefined)
    this.discard()
  }

  /** Lets the pool close the connection. */
  discard(): void {
    this.#isBroken = true
  }

  release(): void {
    this.#client.off?.('error', ignoreError)
    this.#release(this.#isBroken)
  }
}

/** Does nothing: the next query on a lost connection rejects with the error. */
function ignoreError(): void {}
