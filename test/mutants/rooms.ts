/** A part of the source, and the tests that hold it. */
interface Room {
  /** What is mutated. */
  readonly sources: readonly string[]
  /** Globs of the tests that must notice. Those without a star or braces run in their order: put the quick ones first. */
  readonly tests: readonly string[]
}

/** `npm run test:mutants -- NAME` runs one of these. */
export const ROOMS: Readonly<Record<string, Room>> = {
  http: {
    sources: within(
      'src/http',
      'call attempt retry retry-after token answer timeout abort-listeners request failure redact unwrap',
    ),
    tests: [
      ...testsIn('test/client', 'hooks derived-client requests'),
      ...testsIn('test/http', 'sent-once token abort-listeners retry-after redact throttle fetch-transport retry'),
      ...testsIn('test/client', 'rate-limit'),
      ...testsIn('test/node', 'node-transport'),
      ...testsIn('test/http', 'timeout answer'),
    ],
  },
  verify: {
    sources: [
      ...within('src/webhook/verify', 'signature hmac.node hmac.portable secret raw-body'),
      ...within('src/shared', 'warn-once'),
    ],
    tests: ['test/webhook/{verify/{hmac,vectors,signature},event/event}.test.ts'],
  },
  receiver: {
    sources: [
      ...within(
        'src/webhook/receiver',
        'receiver-core read-message body-collector delivery lease store-calls deadline timers',
      ),
      ...within('src/webhook/receiver', 'webhook-answer receiver-reports receiver-settings'),
    ],
    tests: ['test/webhook/receiver/!(simulation).test.ts', 'test/webhook/receiver/adapters/lambda.test.ts'],
  },
  /** The two of servers want `.ci/services npm run test:mutants -- stores`. */
  stores: {
    sources: [
      ...within('src/webhook/stores', 'memory redis arguments'),
      ...within('src/webhook/stores/postgres', 'store statements database pg postgres-js'),
      ...within('src/shared', 'semaphore postgres-table'),
    ],
    tests: [
      ...testsIn('test/shared', 'semaphore'),
      ...testsIn('test/webhook/stores', 'postgres-answers postgres-pool memory-bounds memory redis postgres'),
    ],
  },
}

function within(folder: string, names: string): string[] {
  return names.split(' ').map((name) => `${folder}/${name}.ts`)
}

function testsIn(folder: string, names: string): string[] {
  return names.split(' ').map((name) => `${folder}/${name}.test.ts`)
}
