import { compare, type Group } from './harness.ts'
import { checkClients, type HttpClient, httpClients } from './http-clients.ts'
import { inParallel } from './in-parallel.ts'
import { startServer } from './loopback.ts'

/** The first case is the first to run, and warms the others up: V8 goes on compiling for some 12 000 calls. */
const CASES = [
  { tasks: 5, size: '1 KB', atOnce: 1, times: 500, warmUp: 30, rounds: 12 },
  { tasks: 5, size: '1 KB', atOnce: 64, times: 512, warmUp: 4, rounds: 12 },
  { tasks: 1_000, size: '200 KB', atOnce: 1, times: 150, warmUp: 3, rounds: 8 },
  { tasks: 1_000, size: '200 KB', atOnce: 64, times: 192, warmUp: 2, rounds: 8 },
]

/** The CPU time of calls of two sizes, one after the other and many at once. @param aims - one for each of the groups */
export async function compareCalls(
  choose: (clients: readonly HttpClient[]) => readonly HttpClient[],
  rival: number,
  aims: readonly Readonly<Record<string, number>>[],
): Promise<readonly Group[]> {
  const server = await startServer()
  const groups: Group[] = []
  for (const [place, { tasks, size, atOnce, ...plan }] of CASES.entries()) {
    const clients = choose(httpClients(server.origin, tasks))
    await checkClients(clients, tasks)
    const contestants = clients.map(({ name, call }) => ({
      name,
      run: (count: number) => inParallel(atOnce, count, () => call()),
    }))
    const title = `${size}, ${atOnce === 1 ? 'one after the other' : `${atOnce} at once`}`
    groups.push(await compare(contestants, rival, { title, ...plan, ...(aims[place] && { aims: aims[place] }) }))
  }
  server.stop()
  return groups
}
