import type { ClientRequest } from 'node:http'
import type { Duplex } from 'node:stream'

/** A server may close an idle connection just as a request is written. The outcome of that request would be unknown. */
const MAX_IDLE_MS = 1_000

const lastUsed = new WeakMap<Duplex, number>()

/** Records that a response was read to its end on a socket. */
export function markUsed(socket: Duplex): void {
  lastUsed.set(socket, performance.now())
}

/** Whether a socket is safe for a write that must not be sent twice: it is new, or was used within the last second. */
export function isFresh(request: ClientRequest, socket: Duplex): boolean {
  const used = lastUsed.get(socket)
  return used === undefined ? !request.reusedSocket : performance.now() - used <= MAX_IDLE_MS
}
