/** The memory of one client, in a process that runs nothing else. Argument: a {@link MemoryTask} as JSON. */
import { setImmediate } from 'node:timers/promises'
import { spread } from './harness.ts'
import { httpClients } from './http-clients.ts'
import { inParallel } from './in-parallel.ts'

export interface MemoryTask {
  readonly origin: string
  readonly name: string
  /** Whether every call gets the same long-lived signal. */
  readonly signal: boolean
}

const STRETCHES = 10
const CALLS = 2_000

const { origin, name, signal }: MemoryTask = JSON.parse(process.argv[2] ?? '')
const clients = httpClients(origin, 5)
const shutdown = new AbortController()
const call = clients.find((client) => client.name === name)?.call ?? combined
const given = signal ? shutdown.signal : undefined

// What is made once, such as compiled code and connections, is made here.
await inParallel(16, 3_000, () => call(given))
const kept: number[] = []
let before = await heapInUse()
for (let stretch = 0; stretch < STRETCHES; stretch++) {
  await inParallel(16, CALLS, () => call(given))
  const after = await heapInUse()
  kept.push((after - before) / CALLS)
  before = after
}
process.send?.(spread(kept))
process.disconnect?.()

/** The usual way to add a limit of time to a caller's signal. */
async function combined(outer?: AbortSignal): Promise<unknown> {
  const limit = AbortSignal.timeout(10_000)
  const response = await fetch(`${origin}/5`, { signal: outer ? AbortSignal.any([outer, limit]) : limit })
  return response.json()
}

/** Collected twice, with a turn between: what finalizers let go of goes in the second. */
async function heapInUse(): Promise<number> {
  for (let time = 0; time < 3; time++) {
    globalThis.gc?.()
    await setImmediate()
  }
  return process.memoryUsage().heapUsed
}
