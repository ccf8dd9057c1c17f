import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Starts the server in a child process. */
export async function startServer(): Promise<{ readonly origin: string; readonly stop: () => void }> {
  const child: ChildProcess = fork(fileURLToPath(new URL('./server.mjs', import.meta.url)), { execArgv: [] })
  const [port] = await once(child, 'message')
  return { origin: `http://127.0.0.1:${port}`, stop: () => child.disconnect() }
}
