/**
 * Child process: a webhook receiver. Argument: a `ReceiverOptions` as JSON. Sends its port to the parent, and its
 * resource use in response to every message.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createWebhookReceiver, type DeliveryStore, memoryStore } from 'campaign-client/webhook'
import { postgresSchema, postgresStore } from 'campaign-client/webhook/postgres'
import { redisStore } from 'campaign-client/webhook/redis'
import { sqliteStore } from 'campaign-client/webhook/sqlite'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import connect from 'postgres'
import { createClient } from 'redis'
import { cpuTime } from './harness.ts'
import {
  type ReceiverKind,
  type ReceiverOptions,
  type ReceiverQuestion,
  type ReceiverUse,
  SECRET,
} from './receiver-kinds.ts'

const TABLE = 'campaign_bench'

let handled = 0

const stores: Readonly<Record<Exclude<ReceiverKind, 'bare'>, (url: string) => DeliveryStore | Promise<DeliveryStore>>> =
  {
    // Fewer entries than messages, so that the store discards old entries.
    memory: () => memoryStore({ maxEntries: 10_000 }),
    redis: async (url) => redisStore(await createClient({ url }).connect(), { prefix: 'bench:redis:' }),
    ioredis: (url) => redisStore(new Redis(url), { prefix: 'bench:ioredis:' }),
    async pg(url) {
      const pool = new Pool({ connectionString: url })
      pool.on('error', console.error)
      await pool.query(postgresSchema(TABLE))
      await pool.query(`TRUNCATE ${TABLE}`)
      return postgresStore(pool, { table: TABLE })
    },
    async postgres(url) {
      const sql = connect(url, { prepare: false, fetch_types: false, onnotice: () => undefined })
      await sql.unsafe(postgresSchema(TABLE))
      return postgresStore(sql, { table: TABLE })
    },
    sqlite: (path) => sqliteStore(path),
  }

/** Only verifies the signature and parses the body. */
const bare: RequestListener = (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks)
    const expected = createHmac('sha256', SECRET).update(body).digest()
    const given = Buffer.from(`${request.headers['x-service-signature']}`, 'hex')
    if (expected.length !== given.length || !timingSafeEqual(expected, given)) {
      response.writeHead(401).end()
      return
    }
    if (typeof JSON.parse(body.toString()).id === 'string') handled += 1
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
  })
}

async function listener({ kind, url = '', keepFailed }: ReceiverOptions): Promise<RequestListener> {
  if (kind === 'bare') return bare
  return createWebhookReceiver({
    endpoint: 'bench',
    secret: SECRET,
    store: await stores[kind](url),
    keepFailed,
    async handle() {
      handled += 1
    },
  }).node
}

const server = createServer(await listener(JSON.parse(`${process.argv[2]}`)))
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('message', (question: ReceiverQuestion) => {
  if (question === 'use after collection') globalThis.gc?.()
  process.send?.({ cpu: cpuTime(), handled, heap: process.memoryUsage().heapUsed } satisfies ReceiverUse)
})
process.on('disconnect', () => process.exit())
