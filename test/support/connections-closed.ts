import type { Server } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect } from 'vitest'

/**
 * Waits until a server of this process has read everything that its clients sent. Then a test can expect that something
 * did not arrive. The clients must have closed their connections, or must be about to.
 */
export async function connectionsClosed(server: Server): Promise<void> {
  await socketsRead()
  // A server reads a connection up to its end before it closes it.
  await expect.poll(() => promisify(server.getConnections).call(server)).toBe(0)
}

/**
 * Lets the servers of this process accept the connections and read the bytes that have arrived. For clients that a test
 * cannot see: a process that has ended, or code that has returned.
 */
export async function socketsRead(): Promise<void> {
  // A server accepts in one turn of the event loop and reads in the next. A client of this process needs some for its part.
  for (let turn = 0; turn < 10; turn++) await nextTurn()
}
