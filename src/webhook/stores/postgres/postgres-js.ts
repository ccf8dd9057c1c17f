import type { Database } from './database.ts'

/** What `postgresStore` needs of the `sql` that the `postgres` package makes. */
export interface PostgresSql<Transaction> {
  unsafe(query: string, parameters?: (string | number)[]): PromiseLike<readonly unknown[]>
  begin(options: string, transaction: (sql: Transaction) => Promise<void>): Promise<unknown>
}

export function postgresJsDatabase(sql: PostgresSql<unknown>): Database {
  return {
    query: async (text, ...values) => sql.unsafe(text, values),
    async transaction(work) {
      let connection: Connection = 'held'
      let running: Promise<void> | undefined
      const ended = sql.begin('isolation level read committed', (given) => {
        const tx = whileHeld(given as PostgresSql<unknown>, () => connection)
        running = work(async (text, ...values) => tx.unsafe(text, values), tx)
        return unlessLost(running, () => connection)
      })
      ended.catch(() => {
        connection = 'lost'
      })
      try {
        await ended
      } catch (error) {
        // A lost connection ends the transaction at once. The function must not go on behind the caller's back.
        await running?.catch(ignore)
        throw error
      }
    },
  }
}

type Connection = 'held' | 'lost'

/**
 * The `sql` of a transaction of `postgres` 3.4 goes on writing to its connection when that was lost in between: to a
 * missing socket, which ends the process, or, when the connection was made again for somebody else, into another session
 * and outside of the transaction. This one throws instead.
 */
function whileHeld<Sql extends object>(sql: Sql, connection: () => Connection): Sql {
  const guarded = (callee: unknown, self: unknown) =>
    typeof callee !== 'function'
      ? callee
      : (...args: unknown[]) => {
          if (connection() === 'lost') throw new Error(LOST)
          return Reflect.apply(callee, self, args)
        }
  return new Proxy(sql, {
    apply: (target, self, args) => (guarded(target, self) as (...args: unknown[]) => unknown)(...args),
    get(target, name) {
      const member = guarded(Reflect.get(target, name), target)
      if (name !== 'savepoint' || typeof member !== 'function') return member
      return (...args: unknown[]) => {
        const work = args.pop() as (sql: object) => unknown
        return new Promise((resolve, reject) => {
          const within = async (inner: object) => work(whileHeld(inner, connection))
          member(...args, (inner: object) => unlessLost(within(inner), connection, reject)).then(resolve, reject)
        })
      }
    },
  })
}

/**
 * For the same reason `postgres` must not learn how work ended whose connection was lost: it would send its ROLLBACK.
 * It has rejected the transaction by itself by then, a few microtasks after the queries of it; `reject` is for whoever
 * waits for a part of it.
 */
async function unlessLost<Result>(
  work: Promise<Result>,
  connection: () => Connection,
  reject: (reason: unknown) => void = ignore,
): Promise<Result> {
  try {
    return await work
  } finally {
    await new Promise((resolve) => setTimeout(resolve, 0))
    if (connection() === 'lost') {
      reject(new Error(LOST))
      await new Promise(() => {})
    }
  }
}

const LOST = 'The connection was lost, and the transaction with it'

function ignore(): void {}
