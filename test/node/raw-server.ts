import net, { type AddressInfo, type Socket } from 'node:net'
import { connectionsClosed } from '../support/connections-closed.ts'

/** A request with its connection. */
export interface RawRequest {
  readonly head: string
  readonly body: string
  /** 0 for the first connection. */
  readonly connection: number
  readonly socket: Socket
}

/** A TCP server whose test writes the bytes of each response. */
export interface RawServer {
  readonly url: string
  readonly requests: readonly RawRequest[]
  /** The open connections. */
  readonly open: ReadonlySet<Socket>
  /** Waits until the clients have closed their connections, and everything that they sent has been read. */
  connectionsClosed(): Promise<void>
  close(): Promise<void>
}

/** Starts a server that calls `respond` for each complete request. */
export async function rawServer(respond: (request: RawRequest) => void, host = '127.0.0.1'): Promise<RawServer> {
  const requests: RawRequest[] = []
  const open = new Set<Socket>()
  let connections = 0
  const server = net.createServer((socket) => {
    const connection = connections++
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => undefined)
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      for (;;) {
        const end = received.indexOf('\r\n\r\n')
        if (end < 0) return
        const head = received.slice(0, end)
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
        if (received.length < end + 4 + length) return
        const request = { head, body: received.slice(end + 4, end + 4 + length), connection, socket }
        received = received.slice(end + 4 + length)
        requests.push(request)
        respond(request)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    requests,
    open,
    connectionsClosed: () => connectionsClosed(server),
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy()
        server.close(() => resolve())
      }),
  }
}

/** Returns the bytes of a response with a content-length. */
export const responseBytes = (body: string | Buffer, headers = '', status = '200 OK'): Buffer =>
  Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n`),
    Buffer.from(body),
  ])
