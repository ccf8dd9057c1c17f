import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'

/** What tells an encrypted socket, also one of a mocking library, which is no instance of Node's class. */
interface MaybeEncrypted {
  readonly encrypted?: boolean
  readonly secureConnecting?: boolean
}

/**
 * Whether a request can have left, told by what its own socket reported and by nothing else: an error code names no
 * connection. Node writes the request when the socket is connected, and an encrypted one when the server's certificate
 * has been accepted.
 */
export class Departure {
  #possible = false
  #refusedByProxy = false

  /** False while it is certain that the service has seen nothing of the request. */
  get possible(): boolean {
    return this.#possible
  }

  /**
   * Agents of proxies whose tunnel was refused hand over a socket that leads nowhere, on which they play the answer of
   * the proxy as if it came from the service.
   */
  get refusedByProxy(): boolean {
    return this.#refusedByProxy
  }

  /** To be called with the socket that the request was given. */
  watch(socket: Socket & MaybeEncrypted, encrypted: boolean): void {
    this.#refusedByProxy = !socket.writable || (encrypted && socket.encrypted !== true)
    if (this.#refusedByProxy) return
    const ready = (): void => {
      this.#possible = true
    }
    if (encrypted && (socket.connecting || socket.secureConnecting)) socket.once('secureConnect', ready)
    else if (socket.connecting) socket.once('connect', ready)
    else ready()
  }
}

/** A server may be closing an idle socket at the moment a request is written to it: then nobody knows its outcome. */
const FRESH_MS = 1_000

const lastUsed = new WeakMap<Socket, number>()

/** Notes that an answer was read to its end on the socket. */
export function markUsed(socket: Socket): void {
  lastUsed.set(socket, performance.now())
}

/** Whether a request that must not be lost may be written to the socket that it was given. */
export function isFresh(request: ClientRequest, socket: Socket): boolean {
  if (!request.reusedSocket) return true
  const used = lastUsed.get(socket)
  return used !== undefined && performance.now() - used <= FRESH_MS
}
