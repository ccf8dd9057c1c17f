import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { deferred } from '../observed-receiver.ts'

/** Opens a TCP connection, for tests that write HTTP by hand. */
export async function rawConnection(
  port: number,
): Promise<{ socket: Socket; received: () => string; closed: Promise<void> }> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  const closed = deferred()
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  socket.on('error', () => {})
  socket.on('close', () => closed.resolve())
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  return { socket, received: () => text, closed: closed.promise }
}
