import { takeTurns } from './harness.ts'
import { httpClients } from './http-clients.ts'
import { inParallel } from './in-parallel.ts'
import { startServer } from './loopback.ts'

/** Calls of 1 KB, so many at once. Enough in one sample for its 99th percentile to be more than its slowest call. */
const CASES = [
  { atOnce: 1, times: 400 },
  { atOnce: 16, times: 800 },
  { atOnce: 64, times: 1_600 },
  { atOnce: 256, times: 2_560 },
]
const NAMES = ['bare fetch', 'campaign-client', 'campaign-client/node', 'node:http']
const WARM_UP = 3
const ROUNDS = 8

/** What one round of calls was like. */
export interface LoadSample {
  readonly perSecond: number
  /** How long each call took, in microseconds, in ascending order. */
  readonly tookUs: readonly number[]
}

/** What several clients were like with so many calls at once: those that took turns have samples. */
export interface Load {
  readonly atOnce: number
  readonly results: readonly { readonly name: string; readonly samples: readonly LoadSample[] }[]
}

/** Puts load on the server, by the first client and one of the others in turn. */
export async function putLoad(rival: number): Promise<readonly Load[]> {
  const server = await startServer()
  const clients = httpClients(server.origin, 5).filter(({ name }) => NAMES.includes(name))
  const loads: Load[] = []
  for (const { atOnce, times } of CASES) {
    const results = clients.map(({ name, call }) => ({ name, call, samples: [] as LoadSample[] }))
    await takeTurns(rival, { warmUp: WARM_UP, rounds: ROUNDS }, async (place, counts) => {
      const result = results[place]
      if (result === undefined) return
      const sample = await roundOf(atOnce, times, result.call)
      if (counts) result.samples.push(sample)
    })
    loads.push({ atOnce, results })
  }
  server.stop()
  return loads
}

async function roundOf(atOnce: number, times: number, call: () => Promise<unknown>): Promise<LoadSample> {
  const tookUs: number[] = []
  const begin = performance.now()
  await inParallel(atOnce, times, async () => {
    const begin = performance.now()
    await call()
    tookUs.push((performance.now() - begin) * 1_000)
  })
  const perSecond = (times / (performance.now() - begin)) * 1_000
  return { perSecond, tookUs: tookUs.sort((a, b) => a - b) }
}
