import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { onTestFinished } from 'vitest'

/** An HTTP proxy for HTTPS requests. */
export interface ConnectProxy {
  /** Host and port. */
  readonly host: string
  /** The host and port of each requested tunnel. */
  readonly targets: string[]
  /** Returns the bytes that clients sent through the tunnels. */
  received(): string
}

interface ConnectProxyOptions {
  /** Refuses tunnels with this status, unless it is 200. */
  readonly status?: number
  /** The port to which tunnels lead. @defaultValue the requested port */
  readonly port?: number
}

/** Starts a proxy, which exists until the test ends. Every tunnel leads to this machine. */
export async function startConnectProxy(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const { close, ...proxy } = await openConnectProxy(options)
  onTestFinished(close)
  return proxy
}

/** Like {@link startConnectProxy}, for programs without Vitest. */
export async function openConnectProxy(
  options: ConnectProxyOptions = {},
): Promise<ConnectProxy & { close: () => void }> {
  const { status = 200, port } = options
  const targets: string[] = []
  let received = ''
  const proxy = createServer().on('connect', ({ url = '' }, socket) => {
    targets.push(url)
    if (status !== 200) {
      socket.on('error', () => undefined)
      socket.end(`HTTP/1.1 ${status} No\r\nContent-Type: application/json\r\n\r\n{"success":true}`)
      return
    }
    const target = connect(port ?? Number(new URL(`http://${url}`).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      target.pipe(socket).pipe(target)
    })
    target.on('error', () => socket.destroy())
    socket.on('error', () => target.destroy())
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1')
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port: proxyPort } = proxy.address() as AddressInfo
  return { host: `127.0.0.1:${proxyPort}`, targets, received: () => received, close: () => void proxy.close() }
}
