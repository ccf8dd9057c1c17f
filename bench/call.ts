import { compare, type Group, OURS, type Subject } from './harness.ts'
import { checkClients, httpClients } from './http-clients.ts'
import { inParallel } from './in-parallel.ts'
import { startServer } from './loopback.ts'

/** The first case is the first to run, and warms the others up: V8 goes on compiling for some 5 000 calls. */
const CASES = [
  { tasks: 5, size: '1 KB', atOnce: 1, times: 500, warmUp: 10, rounds: 12, aim: 1.6 },
  { tasks: 5, size: '1 KB', atOnce: 64, times: 512, warmUp: 4, rounds: 12, aim: 1.6 },
  { tasks: 1_000, size: '200 KB', atOnce: 1, times: 200, warmUp: 3, rounds: 8, aim: 1.15 },
  { tasks: 1_000, size: '200 KB', atOnce: 64, times: 512, warmUp: 2, rounds: 6, aim: 1.15 },
]

/** What a call costs the calling process. */
export default async function (rival: number): Promise<Subject> {
  const server = await startServer()
  const groups: Group[] = []
  for (const { tasks, size, atOnce, times, warmUp, rounds, aim } of CASES) {
    const clients = httpClients(server.origin, tasks)
    await checkClients(clients, tasks)
    const contestants = clients.map(({ name, call }) => ({
      name,
      run: (count: number) => inParallel(atOnce, count, () => call()),
    }))
    const title = `${size}, ${atOnce === 1 ? 'one after the other' : `${atOnce} at once`}`
    groups.push(await compare(contestants, rival, { title, aims: { [OURS]: aim }, times, warmUp, rounds }))
  }
  server.stop()
  return {
    title: 'One call',
    about:
      'CPU time of the calling process for one GET, answered from memory by a second process over loopback: ' +
      'from the arguments to the data. Beside a bare `fetch` with `JSON.parse`. Only campaign-client checks the ' +
      'arguments and the data, and can be aborted after a time; “ky, lean” has retries, limits and status errors turned ' +
      'off, which is the least that anything on ky costs; stripe goes through node:http, which is cheaper than `fetch`.',
    measure: 'ratio',
    groups,
  }
}
