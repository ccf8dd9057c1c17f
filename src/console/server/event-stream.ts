import type { ServerResponse } from 'node:http'
import type { Update } from '../protocol.ts'

/** More windows than anybody has open; whoever opens more is not a person. */
const MAX_CLIENTS = 50
/** What may wait for a slow reader. Beyond it the connection is ended, and the browser begins anew. */
const MAX_WAITING_BYTES = 8_000_000
const HEARTBEAT_MS = 20_000

/** Those who watch, by server-sent events. */
export class EventStream {
  readonly #clients = new Set<ServerResponse>()
  readonly #heartbeat: ReturnType<typeof setInterval>

  constructor() {
    // So that proxies and laptops that have slept notice a connection that is gone.
    this.#heartbeat = setInterval(() => this.#send(':\n\n'), HEARTBEAT_MS)
    this.#heartbeat.unref()
  }

  get isEmpty(): boolean {
    return this.#clients.size === 0
  }

  /** Lets somebody watch, who is first told everything. */
  connect(response: ServerResponse, everything: Update): void {
    if (this.#clients.size >= MAX_CLIENTS) {
      response.writeHead(503, { 'retry-after': '10' }).end()
      return
    }
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    response.write(`retry: 1000\n\n${toEvent(everything)}`)
    this.#clients.add(response)
    response.on('close', () => this.#clients.delete(response))
  }

  tell(update: Update): void {
    this.#send(toEvent(update))
  }

  close(): void {
    clearInterval(this.#heartbeat)
    for (const client of this.#clients) client.destroy()
    this.#clients.clear()
  }

  #send(text: string): void {
    for (const client of this.#clients) {
      client.write(text)
      if (client.writableLength > MAX_WAITING_BYTES) client.destroy()
    }
  }
}

const toEvent = (update: Update): string => `data: ${JSON.stringify(update)}\n\n`
