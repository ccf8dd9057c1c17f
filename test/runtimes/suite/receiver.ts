import { createManualClock } from 'campaign-client/testing'
import {
  createWebhookReceiver,
  type WebhookEvent,
  type WebhookReceiver,
  type WebhookReceiverOptions,
} from 'campaign-client/webhook'
import { equal, matches } from './assertions.ts'
import { type Behaviour, need, type Served } from './behaviour.ts'
import { ADA, createLocalClient } from './local-client.ts'
import { activity, signatureOf } from './messages.ts'
import { SECRET } from './secrets.ts'

const HEADER = 'x-service-signature'

/** A webhook endpoint, from the request to the response. */
export const receivers: readonly Behaviour[] = [
  {
    name: 'responds with 503 after deadlineMs while the handler continues',
    async run() {
      const gate = deferred()
      const waitedFor: Promise<unknown>[] = []
      const { receiver } = createReceiver({ deadlineMs: 20, handle: () => gate.promise })
      const context = { waitUntil: (work: Promise<unknown>) => waitedFor.push(work) }
      matches(await responseTo(receiver.fetch(await delivery('m-1'), context)), { status: 503 })
      gate.resolve()
      await Promise.all(waitedFor)
      matches(await responseTo(receiver.fetch(await delivery('m-1'))), { body: { result: 'duplicate' } })
      equal(waitedFor.length > 0, true, 'waitUntil was called')
    },
  },
  {
    name: 'reports that the body was already read',
    async run() {
      const { receiver, rejected, failed } = createReceiver()
      const request = await delivery('m-1')
      await request.text()
      matches(await responseTo(receiver.fetch(request)), { status: 500 })
      matches(rejected, ['body_not_raw'])
      matches(failed, ['body WebhookError'])
    },
  },
  {
    name: 'refuses messages after close and aborts the signal of a running handler',
    async run() {
      const running = deferred()
      const { receiver } = createReceiver({
        handle: (_event, { signal }) => {
          running.resolve()
          return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        },
      })
      const response = receiver.fetch(await delivery('m-1'))
      await running.promise
      await receiver.close({ timeoutMs: 0 })
      equal((await response).status >= 500, true, 'the status requests a retry')
      matches(await responseTo(receiver.fetch(await delivery('m-2'))), { status: 503 })
    },
  },
  {
    name: 'receives deliveries of the local service, even on the fourth retry',
    async run() {
      const clock = createManualClock()
      let down = 4
      const { receiver, handled } = createReceiver({
        handle: () => {
          if (down-- > 0) throw new Error('down')
        },
      })
      const { client, service } = createLocalClient({}, { clock, deliver: (request) => receiver.fetch(request) })
      service.registerWebhook({ url: 'https://partner.example/hook', secret: SECRET })
      await client.recordActionValue({ ...ADA, cid: 'welcome', aid: 'feedback', value: 5 })
      await clock.advance(395_000)
      matches(
        service.deliveries.map(({ state, attempts }) => `${state} ${attempts.map(({ status }) => status)}`),
        service.deliveries.map((_, index) => (index === 0 ? 'delivered 500,500,500,500,200' : 'delivered 200')),
      )
      equal(new Set(handled.map(({ id }) => id)).size, service.deliveries.length, 'messages handled')
      equal(handled[0]?.kind, 'action_completed', 'kind')
    },
  },
  {
    name: 'works with node:http',
    run: async (environment) => sendMessages(need(environment, 'serveNode')),
  },
  {
    name: "works with the runtime's own server",
    run: async (environment) => sendMessages(need(environment, 'serveFetch')),
  },
]

/** Creates a receiver that records its messages, rejections and errors. */
function createReceiver(options: Partial<WebhookReceiverOptions> = {}) {
  const handled: WebhookEvent[] = []
  const rejected: string[] = []
  const failed: string[] = []
  const receiver = createWebhookReceiver({
    endpoint: 'campaign',
    secret: () => SECRET,
    onReject: ({ reason }) => rejected.push(reason),
    onError: (error, { stage }) => failed.push(`${stage} ${error instanceof Error ? error.name : typeof error}`),
    ...options,
    handle: (event, context) => {
      handled.push(event)
      return options.handle?.(event, context)
    },
  })
  return { receiver, handled, rejected, failed }
}

async function delivery(id: string, fields: Record<string, unknown> = {}): Promise<Request> {
  return new Request('http://receiver.test/webhooks/campaign', await message(id, fields))
}

async function message(id: string, fields: Record<string, unknown> = {}) {
  const body = activity(id, fields)
  const headers = { 'content-type': 'application/json', [HEADER]: await signatureOf(SECRET, body) }
  return { method: 'POST', headers, body }
}

async function responseTo(promise: Promise<Response>) {
  const response = await promise
  const retryAfter = response.headers.get('retry-after')
  return { status: response.status, body: (await response.json()) as unknown, retryAfter }
}

/** Sends messages over a real connection. */
async function sendMessages(serve: (receiver: WebhookReceiver) => Promise<Served>): Promise<void> {
  const { receiver, handled } = createReceiver({ maxBodyBytes: 100_000 })
  const served = await serve(receiver)
  try {
    const send = async (init: RequestInit) => responseTo(served.send(init))
    matches(await send(await message('m-1')), { status: 200, body: { result: 'handled' } })
    matches(await send(await message('m-1')), { status: 200, body: { result: 'duplicate' } })
    const long = await message('m-2', { padding: 'é'.repeat(40_000) })
    matches(await send(long), { status: 200, body: { result: 'handled' } })
    matches(await send({ ...long, headers: { [HEADER]: '0'.repeat(64) } }), { status: 401 })
    matches(await send(await message('m-3', { padding: 'x'.repeat(100_000) })), { status: 413 })
    matches(await send({ method: 'GET' }), { status: 405 })
    matches(
      handled.map(({ id }) => id),
      ['m-1', 'm-2'],
    )
  } finally {
    await served.close()
  }
}

/** Returns a promise with its resolve function. The types of ES2023 have no Promise.withResolvers. */
function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
