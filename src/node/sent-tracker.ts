import { ClientRequest } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

/**
 * Tells whether a request may have left this process. Error codes are not used: they do not name a connection.
 *
 * Node writes a request once its socket is connected; over TLS, once the server's certificate is accepted. So a request has
 * certainly not left while a socket of Node's own has reported neither. Any other stream, or a request made by a mocking
 * library, may have sent something without saying so.
 */
export class SentTracker {
  #maybeSent: boolean

  constructor(request: ClientRequest) {
    this.#maybeSent = !isExactly(request, ClientRequest)
  }

  /** False while it is certain that the service has received nothing. */
  get maybeSent(): boolean {
    return this.#maybeSent
  }

  /** Watches the socket that was assigned to the request. Call it before anything is written. */
  watch(socket: Duplex): void {
    const sent = (): void => {
      this.#maybeSent = true
    }
    const { secureConnecting } = socket as { secureConnecting?: boolean }
    if (isExactly(socket, TLSSocket) && secureConnecting) {
      socket.once('secureConnect', sent)
      // A TLSSocket that was not made by tls.connect() only emits 'secure'. One whose certificate was refused is destroyed by now.
      socket.once('secure', () => socket.destroyed || sent())
    } else if (isExactly(socket, Socket) && socket.pending) {
      socket.once('connect', sent)
    } else {
      sent()
    }
  }
}

/** Whether a socket sends what is written to it in plain text. A stream that is not one of Node's sockets counts as encrypted. */
export const isPlainText = (socket: Duplex): boolean =>
  isExactly(socket, Socket) && socket.writable && (socket.connecting || !socket.pending)

/** Subclasses may behave in any way, so `instanceof` is not enough. */
function isExactly<T extends object>(value: object, type: { readonly prototype: T }): value is T {
  return Object.getPrototypeOf(value) === type.prototype
}
