/** A real database server for tests: started by the test itself, or running already at an address from the environment. */
export interface Database {
  /** Credentials included. */
  readonly url: string
  stop(): Promise<void>
}

/** A server that belongs to one test, which may kill it. */
export interface PrivateDatabase extends Database {
  /** Ends it the hard way, as a crash of its machine would. */
  kill(): Promise<void>
  /** Starts it again at the same address. */
  restart(): Promise<void>
}

/** Whether and how tests can have a server. */
export interface DatabaseSource {
  readonly name: string
  /** Why tests of this database are skipped; `undefined` when there is one. */
  readonly missing: string | undefined
  /** Why tests that kill the server are skipped: those need the program itself, an address is not enough. */
  readonly missingPrivate: string | undefined
  /** The server at the address from the environment, or one of our own. */
  start(): Promise<Database>
  startPrivate(): Promise<PrivateDatabase>
}
