import type { AddressInfo } from 'node:net'
import { createServer, connect as dial, type Socket } from 'node:net'

/** A TCP proxy that can stall like a stopped server or a broken network. */
export interface StallingProxy {
  /** The address of the server, through the proxy. */
  readonly url: string
  /** Delays requests or responses until {@link resume}. */
  stall(direction: 'requests' | 'responses'): void
  /** Blocks the current connections forever. Later connections work. */
  silence(): void
  /** Forwards the delayed requests or responses. */
  resume(): void
  close(): Promise<void>
}

/** Starts a proxy in front of a server. */
export async function startStallingProxy(serverUrl: string): Promise<StallingProxy> {
  const target = new URL(serverUrl)
  const pairs = new Set<{ client: Socket; server: Socket; isSilent: boolean }>()
  let stalled: 'requests' | 'responses' | undefined
  const apply = (): void => {
    for (const { client, server, isSilent } of pairs) {
      if (isSilent) continue
      if (stalled === 'requests') client.pause()
      else client.resume()
      if (stalled === 'responses') server.pause()
      else server.resume()
    }
  }
  const proxy = createServer((client) => {
    const server = dial(Number(target.port), target.hostname)
    const pair = { client, server, isSilent: false }
    pairs.add(pair)
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('data', (chunk) => to.write(chunk))
      from.on('error', () => undefined)
      from.on('close', () => {
        pairs.delete(pair)
        to.destroy()
      })
    }
    apply()
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const url = new URL(serverUrl)
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
  return {
    url: url.href,
    stall(direction) {
      stalled = direction
      apply()
    },
    silence() {
      for (const pair of pairs) {
        pair.isSilent = true
        pair.client.pause()
        pair.server.pause()
      }
    },
    resume() {
      stalled = undefined
      apply()
    },
    async close() {
      for (const { client, server } of pairs) {
        client.destroy()
        server.destroy()
      }
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}
