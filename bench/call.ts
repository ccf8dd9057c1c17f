import { compare, type Group, OURS, OURS_ON_NODE, type Subject } from './harness.ts'
import { checkClients, httpClients } from './http-clients.ts'
import { inParallel } from './in-parallel.ts'
import { startServer } from './loopback.ts'

/** The first case also warms up the others: V8 compiles code during the first 12 000 calls. */
const CASES = [
  { tasks: 5, title: '1 KB, one at a time', concurrency: 1, times: 500, warmUp: 30, rounds: 12 },
  { tasks: 5, title: '1 KB, 16 at once', concurrency: 16, times: 512, warmUp: 4, rounds: 12 },
  { tasks: 5, title: '1 KB, 64 at once', concurrency: 64, times: 512, warmUp: 4, rounds: 12 },
  { tasks: 1_000, title: '200 KB, one at a time', concurrency: 1, times: 150, warmUp: 3, rounds: 8 },
]

/** Compares the CPU time of a call with other clients. */
export default async function (rivalIndex: number): Promise<Subject> {
  const server = await startServer()
  const groups: Group[] = []
  for (const { tasks, concurrency, ...plan } of CASES) {
    const clients = httpClients(server.origin, tasks)
    await checkClients(clients, tasks)
    const contestants = clients.map(({ name, call }) => ({
      name,
      run: (count: number) => inParallel(concurrency, count, () => call()),
    }))
    groups.push(await compare(contestants, rivalIndex, { ...plan, limits: { [OURS]: 1.75 } }))
  }
  server.stop()
  return {
    title: 'One call',
    about:
      'CPU time of the calling process for one GET over loopback, as a ratio to `fetch` with `JSON.parse`. Every call builds ' +
      `the URL and parses the response. ${OURS} and ${OURS_ON_NODE} (the same client with \`nodeTransport()\`) also check arguments and data. ` +
      "The server's event loop never idles, so no client spends CPU time on waking it.",
    measure: 'ratio',
    groups,
  }
}
