/** Child process: measures the memory of one client. Argument: a {@link MemoryTask} as JSON. */
import { setTimeout } from 'node:timers/promises'
import { httpClients } from './http-clients.ts'
import { inParallel } from './in-parallel.ts'

export interface MemoryTask {
  readonly origin: string
  readonly name: string
  /** Whether all calls get the same long-lived signal. */
  readonly signal: boolean
}

const PERIODS = 10
const CALLS = 2_000

const { origin, name, signal }: MemoryTask = JSON.parse(process.argv[2] ?? '')
const clients = httpClients(origin, 5)
const shutdown = new AbortController()
const call = clients.find((client) => client.name === name)?.call ?? fetchWithTimeout
const given = signal ? shutdown.signal : undefined

// Warm up: compile the code and open the connections.
await inParallel(16, 5_000, () => call(given))
const heaps = [await heapInUse()]
for (let period = 0; period < PERIODS; period++) {
  await inParallel(16, CALLS, () => call(given))
  heaps.push(await heapInUse())
}
process.send?.(slopes(heaps))
process.disconnect?.()

/** Returns the bytes per call between each two measurements with at least half of the run between them. */
function slopes(heaps: readonly number[]): number[] {
  return heaps.flatMap((from, first) =>
    heaps.slice(first + PERIODS / 2).map((to, index) => (to - from) / ((index + PERIODS / 2) * CALLS)),
  )
}

/** Calls `fetch` with a timeout and the signal of the caller. */
async function fetchWithTimeout(outer?: AbortSignal): Promise<unknown> {
  const limit = AbortSignal.timeout(10_000)
  const response = await fetch(`${origin}/5`, { signal: outer ? AbortSignal.any([outer, limit]) : limit })
  return response.json()
}

/** Returns the heap in use after several collections. Finalizers run in the pauses and free objects for the next collection. */
async function heapInUse(): Promise<number> {
  for (let time = 0; time < 4; time++) {
    await setTimeout(20)
    globalThis.gc?.()
  }
  return process.memoryUsage().heapUsed
}
