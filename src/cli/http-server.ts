import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { usageFailure } from './failure.ts'

/** Starts to listen. Returns the URL with a trailing slash. @throws CommandFailure when it cannot use the port or host */
export async function listenOn(server: Server, port: number, host: string): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenFailure(error, port, host)))
    server.listen(port, host, resolve)
  })
  const { address, family, port: actual } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}/`
}

/** The failure for a port or host that cannot be used. */
export function listenFailure({ code, message }: NodeJS.ErrnoException, port: number, host: string): Error {
  switch (code) {
    case 'EADDRINUSE':
      return usageFailure(
        `port ${port} is already in use`,
        'stop the program that uses it, or choose another port with --port (0: any free port)',
      )
    case 'EACCES':
      return usageFailure(`permission denied to listen on port ${port}`, 'choose a port above 1023 with --port')
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return usageFailure(`"${host}" is not an address of this machine`, 'without --host it listens on 127.0.0.1')
    default:
      return usageFailure(`cannot listen on ${host}:${port}: ${code ?? message}`)
  }
}

/** Closes a server and its connections. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** Reads the whole body. Returns `undefined` if it is larger than `maxBytes`. */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size <= maxBytes) chunks.push(chunk)
  }
  return size <= maxBytes ? new Uint8Array(Buffer.concat(chunks)) : undefined
}

/** Sends a plain-text answer, unless `headers` name another type. */
export function answer(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers }).end(text)
}
