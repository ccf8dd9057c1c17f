import type { Server } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect } from 'vitest'

/**
 * Waits until a server of this process has read everything that its clients sent. Then a test can expect that something
 * did not arrive. The clients must have closed their connections, or must be about to.
 */
export async function connectionsClosed(server: Server): Promise<void> {
  // Within a whole turn of the event loop, the server accepts the connections that wait for it.
  await nextTurn()
  await nextTurn()
  // A server reads a connection up to its end before it closes it.
  await expect.poll(() => promisify(server.getConnections).call(server)).toBe(0)
}
