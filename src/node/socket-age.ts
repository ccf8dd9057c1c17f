import type { ClientRequest } from 'node:http'
import type { Duplex } from 'node:stream'

/** A server may be closing an idle connection just as a request is written to it; its outcome is then unknown. */
const MAX_IDLE_MS = 1_000

const lastUsed = new WeakMap<Duplex, number>()

/** Notes that a response was read to its end on this socket. */
export function markUsed(socket: Duplex): void {
  lastUsed.set(socket, performance.now())
}

/** Whether a write that must not be lost may go out on this socket: it is new, or was used within the last second. */
export function isFresh(request: ClientRequest, socket: Duplex): boolean {
  const used = lastUsed.get(socket)
  return used === undefined ? !request.reusedSocket : performance.now() - used <= MAX_IDLE_MS
}
