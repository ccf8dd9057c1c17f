import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net'

/** A TCP proxy on loopback whose new connections can be sent to another server, like the address of a database after a failover. */
export interface SwitchingProxy {
  readonly port: number
  /** Sends new connections to this port. Open connections stay. */
  switchTo(port: number): void
  close(): Promise<void>
}

export async function startSwitchingProxy(port: number): Promise<SwitchingProxy> {
  let target = port
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = dial(target, '127.0.0.1')
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.pipe(to)
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    port: (proxy.address() as AddressInfo).port,
    switchTo(next) {
      target = next
    },
    async close() {
      const closed = new Promise((resolve) => proxy.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
