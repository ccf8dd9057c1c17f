import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { expect } from 'vitest'
import { connectionsClosed } from '../support/connections-closed.ts'

/** A request as the server received it. */
export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A loopback server for one test. */
export interface LoopbackServer {
  /** The `baseUrl` for `CampaignClient`. */
  readonly baseUrl: string
  /** Complete requests in order. Always empty for `tcpServer`. */
  readonly requests: readonly SeenRequest[]
  /** Accepted connections in order, including closed ones. */
  readonly sockets: readonly Socket[]
  /** Waits until the first connection has sent a request, and has read everything that the server has sent until then. */
  clientHasRead(): Promise<void>
  /** Waits until the clients have closed their connections, and everything that they sent has been read. */
  connectionsClosed(): Promise<void>
  /** Ends all connections. A second call does nothing. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Responds to a request. `index` counts the requests of the server from 0. */
export type Responder = (response: ServerResponse, request: SeenRequest, index: number) => void

/** Starts an HTTP server. The n-th responder responds to the n-th request, the last one to all further requests. */
export function httpServer(...responders: readonly [Responder, ...Responder[]]): Promise<LoopbackServer> {
  const requests: SeenRequest[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => undefined)
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const seen = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') }
      const index = requests.push(seen) - 1
      const respond = responders[Math.min(index, responders.length - 1)] as Responder
      respond(response, seen, index)
    })
  })
  return listen(server, requests)
}

/** Starts a TCP server that calls `onConnection` for each connection. */
export function tcpServer(onConnection: (socket: Socket, index: number) => void): Promise<LoopbackServer> {
  let index = 0
  return listen(
    createTcpServer((socket) => onConnection(socket, index++)),
    [],
  )
}

/** Returns a loopback address without a server. */
export async function closedAddress(): Promise<string> {
  const server = await tcpServer((socket) => socket.destroy())
  await server.close()
  return server.baseUrl
}

/** Responds with JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Responder {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }
}

/** Resets the connection (RST) without a response. */
export const reset: Responder = (response) => {
  response.socket?.resetAndDestroy()
}

/** Reads the request and never responds. */
export const silence: Responder = () => undefined

async function listen(server: Server, requests: SeenRequest[]): Promise<LoopbackServer> {
  const isHttp = server instanceof HttpServer
  const sockets: Socket[] = []
  const clients: Socket[] = []
  const onClient = (message: unknown) => void clients.push((message as { socket: Socket }).socket)
  subscribe('net.client.socket', onClient)
  server.on('connection', (socket: Socket) => {
    sockets.push(socket)
    // Tests reset connections: ignore the errors.
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    unsubscribe('net.client.socket', onClient)
    closing ??= new Promise((resolve) => {
      server.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })
    return closing
  }
  return {
    baseUrl: `http://127.0.0.1:${port}/api/v1`,
    requests,
    sockets,
    async clientHasRead() {
      await expect.poll(() => (isHttp ? requests.length : sockets[0]?.bytesRead)).toBeGreaterThan(0)
      const { remotePort, bytesWritten } = sockets[0] as Socket
      const client = clients.find(({ localPort }) => localPort === remotePort)
      await expect.poll(() => client?.bytesRead).toBeGreaterThanOrEqual(bytesWritten)
    },
    connectionsClosed: () => connectionsClosed(server),
    close,
    [Symbol.asyncDispose]: close,
  }
}
