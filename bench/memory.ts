import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { OURS, OURS_ON_NODE, type Result, type Subject } from './harness.ts'
import { httpClients } from './http-clients.ts'
import { startServer } from './loopback.ts'
import type { MemoryTask } from './memory-child.ts'

/** Measures the memory that stays in use after 20 000 calls. */
export default async function (): Promise<Subject> {
  const { origin, stop } = await startServer()
  const clients = httpClients(origin, 5)
  const plain: Result[] = []
  const signalled: Result[] = []
  for (const { name, takesSignal } of clients) {
    plain.push(await measureOne({ origin, name, signal: false }))
    if (takesSignal) signalled.push(await measureOne({ origin, name, signal: true }))
  }
  signalled.push(await measureOne({ origin, name: 'fetch + AbortSignal.any', signal: true }))
  stop()
  const limits = { [OURS]: 15, [OURS_ON_NODE]: 15 }
  return {
    title: 'Memory',
    about:
      'Growth of the heap in bytes per call, measured after full garbage collections: 20 000 calls of 1 KB, 16 at once, each ' +
      'client in its own process.',
    measure: 'bytes',
    groups: [
      { title: 'Without a signal', unitUs: [], limits, results: plain },
      { title: 'With one AbortSignal that outlives all calls', unitUs: [], limits, results: signalled },
    ],
  }
}

async function measureOne(task: MemoryTask): Promise<Result> {
  const child = fork(fileURLToPath(new URL('./memory-child.mjs', import.meta.url)), [JSON.stringify(task)], {
    // Keep compiled code: discarding it would change the heap. Suppress warnings about leaked listeners.
    execArgv: ['--expose-gc', '--no-flush-bytecode', '--no-warnings'],
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`memory of ${task.name}: the process exited with code ${code} and sent no result`)
  })
  const [samples] = await Promise.race([once(child, 'message'), ended])
  return { name: task.name, samples }
}
