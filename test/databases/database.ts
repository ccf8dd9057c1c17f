/** A database server for tests: started by the test, or running at an address from the environment. */
export interface Database {
  /** The address with credentials. */
  readonly url: string
  stop(): Promise<void>
}

/** A server for one test, which can kill it. */
export interface PrivateDatabase extends Database {
  /** Ends the server without a clean shutdown. */
  kill(): Promise<void>
  /** Starts the server again at the same address. */
  restart(): Promise<void>
}

/** Starts servers of one database, if they are installed. */
export interface DatabaseSource {
  readonly name: string
  /** Why tests of this database are skipped; `undefined` if they can run. */
  readonly missing: string | undefined
  /** Why tests that kill the server are skipped; `undefined` if the program is installed. */
  readonly missingPrivate: string | undefined
  /** Returns the server at the address from the environment, or starts one. */
  start(): Promise<Database>
  startPrivate(): Promise<PrivateDatabase>
}
