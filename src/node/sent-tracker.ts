import { ClientRequest } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

/**
 * Tracks whether a request may have been sent, from the events of its socket. Error codes do not show which connection failed.
 *
 * Node writes a request when its socket is connected, and over TLS when the server's certificate is accepted. Before that
 * event, the request has certainly not been sent. Sockets and requests of other libraries may send without an event.
 */
export class SentTracker {
  #maybeSent: boolean

  constructor(request: ClientRequest) {
    this.#maybeSent = !isExactly(request, ClientRequest)
  }

  /** False if the request has certainly not been sent. */
  get maybeSent(): boolean {
    return this.#maybeSent
  }

  /** Watches the socket of the request. Call it before the request is written. */
  watch(socket: Duplex): void {
    const sent = (): void => {
      this.#maybeSent = true
    }
    const { secureConnecting } = socket as { secureConnecting?: boolean }
    if (isExactly(socket, TLSSocket) && secureConnecting) {
      socket.once('secureConnect', sent)
      // A TLSSocket that tls.connect() did not create emits only 'secure'. A refused certificate destroys it.
      socket.once('secure', () => socket.destroyed || sent())
    } else if (isExactly(socket, Socket) && socket.pending) {
      socket.once('connect', sent)
    } else {
      sent()
    }
  }
}

/** Whether a socket is unencrypted. A stream of another library counts as encrypted. */
export const isPlainText = (socket: Duplex): boolean =>
  isExactly(socket, Socket) && socket.writable && (socket.connecting || !socket.pending)

/** Unlike `instanceof`, it excludes subclasses, which may behave differently. */
function isExactly<T extends object>(value: object, type: { readonly prototype: T }): value is T {
  return Object.getPrototypeOf(value) === type.prototype
}
