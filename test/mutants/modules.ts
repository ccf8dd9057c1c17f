/** A part of the source, and the tests that must detect its mutants. */
interface Module {
  /** Globs of the files that are mutated. */
  readonly mutate: readonly string[]
  /** Globs of the tests. */
  readonly tests: readonly string[]
}

/** The modules for `npm run test:mutants -- NAME`. */
export const MODULES: Readonly<Record<string, Module>> = {
  call: {
    mutate: ['src/call/*.ts'],
    tests: [
      'test/bulk/changed-account.test.ts',
      'test/call/!(fetch-transport).test.ts',
      'test/client/!(properties).test.ts',
    ],
  },
  node: { mutate: ['src/transports/node/!(unsupported-runtime).ts'], tests: ['test/node/!(response).test.ts'] },
  progress: { mutate: ['src/progress-changes.ts'], tests: ['test/progress/*.test.ts'] },
  verify: { mutate: ['src/webhook/{event,signature,crypto.*}.ts'], tests: ['test/webhook/{verify,event}/*.test.ts'] },
  receiver: { mutate: ['src/webhook/receiver/*.ts'], tests: ['test/webhook/receiver/*.test.ts'] },
  adapters: {
    mutate: ['src/webhook/receiver/adapters/*.ts'],
    tests: ['test/webhook/receiver/{body,options,receiver}.test.ts', 'test/webhook/receiver/adapters/*.test.ts'],
  },
  /** Needs PostgreSQL and Redis: `.ci/services npm run test:mutants -- stores`. */
  stores: {
    mutate: ['src/webhook/stores/**/*.ts', 'src/{postgres,sqlite}/*.ts'],
    tests: ['test/webhook/stores/!(*crash|failover|faults)?(.integration).test.ts'],
  },
  bulk: {
    mutate: ['src/bulk/!(award-one).ts'],
    tests: ['test/bulk/!(file-ledger|*.integration).test.ts'],
  },
  /**
   * Needs PostgreSQL. Tests that kill processes are not listed, because they run compiled code without mutants. Do not run it as
   * root, who may write to read-only files.
   */
  ledgers: {
    mutate: ['src/bulk/award-one.ts', 'src/bulk/ledger/*.ts'],
    tests: [
      'test/bulk/{award-one,award-state,bad-input,file-ledger,ledgers,ledger-results}.test.ts',
      'test/bulk/{award-state,claims-and-targets,ledgers,postgres-ledger}.integration.test.ts',
      'test/cli/{ledger,award/next-step,award/plan}.test.ts',
    ],
  },
  testing: { mutate: ['src/testing/**/*.ts'], tests: ['test/testing/**/!(*.integration).test.ts'] },
  console: { mutate: ['src/console/server/*.ts'], tests: ['test/console/!(*.integration).test.ts'] },
}
