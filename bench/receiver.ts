import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { signWebhook } from 'campaign-client/webhook'
import { type Group, OURS, ratios, type Subject } from './harness.ts'
import { inParallel } from './in-parallel.ts'
import { PlainConnection } from './plain-connection.ts'
import {
  type ReceiverKind,
  type ReceiverOptions,
  type ReceiverQuestion,
  type ReceiverUse,
  SECRET,
} from './receiver-kinds.ts'
import { stayAwake } from './stay-awake.ts'

const AT_ONCE = 64
const BATCH = 4_000
/** SQLite flushes twice per message, so a disk sets its rate. */
const SQLITE_BATCH = 200
const ROUNDS = 10
const WARM_UP = 3
/** Number of messages of the memory measurement. */
const MANY = 30_000

const SERVICES = { redis: process.env.CAMPAIGN_TEST_REDIS_URL, postgres: process.env.CAMPAIGN_TEST_POSTGRES_URL }

const NAMES: Readonly<Record<ReceiverKind, string>> = {
  bare: 'bare handler',
  memory: OURS,
  redis: `${OURS}, redis`,
  ioredis: `${OURS}, ioredis`,
  pg: `${OURS}, pg`,
  postgres: `${OURS}, postgres`,
  sqlite: `${OURS}, sqlite`,
}

/** Compares receivers with each store. */
export default async function (): Promise<Subject> {
  const folder = await mkdtemp(join(tmpdir(), 'campaign-bench-'))
  const stores = kinds(join(folder, 'deliveries.db'))
  const receivers = await Promise.all(stores.map(Receiver.start))
  const batches = new Map<Receiver, Batch[]>(receivers.map((receiver) => [receiver, []]))
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const receiver of round % 2 === 0 ? receivers : receivers.toReversed()) {
      const batch = await receiver.take(receiver.batch)
      if (round >= 0) batches.get(receiver)?.push(batch)
    }
  }
  const kept: { name: string; samples: number[] }[] = []
  for (const receiver of receivers)
    kept.push({ name: receiver.name, samples: await receiver.keeps((MANY / BATCH) * receiver.batch) })
  for (const receiver of receivers) receiver.stop()
  await rm(folder, { recursive: true })

  const [bare] = receivers
  const of = (receiver: Receiver | undefined, read: (batch: Batch) => number): number[] =>
    ((receiver && batches.get(receiver)) ?? []).map(read)
  const ratio = (title: string, read: (batch: Batch) => number, limits?: Group['limits']): Group => ({
    title,
    unitUs: of(bare, read),
    ...(limits && { limits }),
    results: receivers.map((receiver) => ({
      name: receiver.name,
      samples: ratios(of(receiver, read), of(bare, read)),
    })),
  })
  return {
    title: 'The receiver',
    about:
      `New messages of 1 KB, ${AT_ONCE} at once, to a receiver in its own process with an empty handler. The bare handler uses ` +
      'node:http, `createHmac`, `timingSafeEqual` and `JSON.parse`, and stores nothing. The receiver, the sender and the ' +
      `databases share the cores. The sender's event loop never idles, except with a database. ${missing()}`,
    measure: 'ratio',
    groups: [
      ratio('CPU time', ({ cpu }) => cpu, { [NAMES.memory]: 2.5, [NAMES.redis]: 3, [NAMES.ioredis]: 3 }),
      {
        title: 'Messages a second',
        measure: 'rate',
        unitUs: [],
        limits: { [NAMES.pg]: 2_000, [NAMES.postgres]: 2_000, [NAMES.sqlite]: 100 },
        results: receivers.map((receiver) => ({ name: receiver.name, samples: of(receiver, ({ rate }) => rate) })),
      },
      ratio('Response time, median', ({ p50 }) => p50),
      ratio('Response time, 99th percentile', ({ p99 }) => p99),
      {
        title: `Bytes kept per message, after ${MANY} messages (sqlite: ${(MANY / BATCH) * SQLITE_BATCH})`,
        measure: 'bytes',
        unitUs: [],
        results: kept,
      },
    ],
  }
}

function kinds(sqlitePath: string): ReceiverOptions[] {
  const { redis, postgres } = SERVICES
  return [
    { kind: 'bare' },
    { kind: 'memory' },
    ...(redis
      ? [
          { kind: 'redis' as const, url: redis },
          { kind: 'ioredis' as const, url: redis },
        ]
      : []),
    ...(postgres
      ? [
          { kind: 'pg' as const, url: postgres },
          { kind: 'postgres' as const, url: postgres },
          { kind: 'pg' as const, url: postgres, keepFailed: true },
          { kind: 'postgres' as const, url: postgres, keepFailed: true },
        ]
      : []),
    { kind: 'sqlite', url: sqlitePath },
    { kind: 'sqlite', url: `${sqlitePath}-kept`, keepFailed: true },
  ]
}

function missing(): string {
  const names = [SERVICES.redis ? [] : 'Redis', SERVICES.postgres ? [] : 'PostgreSQL'].flat()
  if (names.length > 0) return `**Not measured: ${names.join(', ')}** (\`.ci/services\` starts them).`
  return 'PostgreSQL runs without fsync; SQLite flushes twice per message.'
}

/** The result of a batch of messages, with times in microseconds. */
interface Batch {
  /** CPU time of the receiver per message. */
  readonly cpu: number
  /** Messages per second. */
  readonly rate: number
  readonly p50: number
  readonly p99: number
}

let messages = 0

class Receiver {
  readonly name: string
  /** Messages per round. */
  readonly batch: number
  readonly #child: ChildProcess
  readonly #connections: readonly PlainConnection[]
  /** A database needs the core on which the sender would stay awake. */
  readonly #hasDatabase: boolean

  private constructor(
    { kind, keepFailed }: ReceiverOptions,
    child: ChildProcess,
    connections: readonly PlainConnection[],
    hasDatabase: boolean,
  ) {
    this.name = `${NAMES[kind]}${keepFailed ? ', keepFailed' : ''}`
    this.batch = kind === 'sqlite' ? SQLITE_BATCH : BATCH
    this.#child = child
    this.#connections = connections
    this.#hasDatabase = hasDatabase
  }

  static async start(options: ReceiverOptions): Promise<Receiver> {
    const child = fork(fileURLToPath(new URL('./receiver-server.mjs', import.meta.url)), [JSON.stringify(options)], {
      execArgv: ['--expose-gc', '--no-flush-bytecode'],
    })
    const [port] = await once(child, 'message')
    const connections = await Promise.all(Array.from({ length: AT_ONCE }, () => PlainConnection.open(port)))
    return new Receiver(options, child, connections, options.url !== undefined)
  }

  async take(count: number): Promise<Batch> {
    const requests = Array.from({ length: count }, () => request())
    const times: number[] = []
    const before = await this.#ask('use')
    const begin = performance.now()
    const idle = [...this.#connections]
    const sleep = this.#hasDatabase ? () => {} : stayAwake()
    await inParallel(AT_ONCE, count, async () => {
      const connection = idle.pop() as PlainConnection
      const sent = performance.now()
      const status = await connection.send(requests.pop() as Buffer)
      if (status !== 200) throw new Error(`${this.name} responded with ${status}`)
      times.push((performance.now() - sent) * 1_000)
      idle.push(connection)
    }).finally(sleep)
    const tookMs = performance.now() - begin
    const after = await this.#ask('use')
    const handled = after.handled - before.handled
    if (handled !== count) throw new Error(`${this.name} handled ${handled} of ${count}`)
    times.sort((a, b) => a - b)
    return {
      cpu: (after.cpu - before.cpu) / count,
      rate: (count / tookMs) * 1_000,
      p50: times[Math.floor(count / 2)] as number,
      p99: times[Math.floor(count * 0.99)] as number,
    }
  }

  /** Returns the bytes kept per message, for each tenth of the messages. */
  async keeps(count: number): Promise<number[]> {
    const tenth = count / 10
    const samples: number[] = []
    let { heap } = await this.#ask('use after collection')
    for (let part = 0; part < 10; part++) {
      await this.take(tenth)
      const now = (await this.#ask('use after collection')).heap
      samples.push((now - heap) / tenth)
      heap = now
    }
    return samples
  }

  stop(): void {
    this.#child.disconnect()
    for (const connection of this.#connections) connection.close()
  }

  async #ask(question: ReceiverQuestion): Promise<ReceiverUse> {
    this.#child.send(question)
    const [use] = (await once(this.#child, 'message')) as [ReceiverUse]
    return use
  }
}

const FILLER = 'A name of the usual length. '.repeat(18)

/** Returns an HTTP request with a new signed message of 1 KB. */
function request(): Buffer {
  const id = `message-${messages++}`
  const body = Buffer.from(
    JSON.stringify({
      ...{ id, scope: 'user_activity', user: 'ada', wallet: '', email: '', team: FILLER },
      campaign: { id: 'demo', name: 'Demo' },
      event: { type: 'action_completed', data: { action: { id: 'follow', name: 'Follow', type: 'social' }, xp: 50 } },
      ...{ total_xp: 1215, ref_xp: 200, ugc_xp: 15, xp_mul: 1, rank: 1 },
    }),
  )
  const head = [
    'POST / HTTP/1.1',
    'host: 127.0.0.1',
    'content-type: application/json',
    `content-length: ${body.length}`,
    `x-service-signature: ${signWebhook(SECRET, body)}`,
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}
