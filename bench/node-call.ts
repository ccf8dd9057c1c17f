import { compareCalls } from './compare-calls.ts'
import { OURS_ON_NODE, type Subject } from './harness.ts'
import type { HttpClient } from './http-clients.ts'

const NAMES = ['node:http', OURS_ON_NODE]

/** What a call over the transport for Node adds to node:http itself. */
export default async function (rival: number): Promise<Subject> {
  const aims = [1.35, 1.35, 1.1, 1.1].map((aim) => ({ [OURS_ON_NODE]: aim }))
  return {
    title: 'One call over node:http',
    about:
      'The same calls, from the arguments to the checked data, beside `http.get` with an agent that keeps connections, ' +
      '`Buffer.concat` and `JSON.parse`.',
    measure: 'ratio',
    groups: await compareCalls((clients) => NAMES.map((name) => named(name, clients)), rival, aims),
  }
}

function named(name: string, clients: readonly HttpClient[]): HttpClient {
  const found = clients.find((client) => client.name === name)
  if (found === undefined) throw new Error(`There is no client ${name}`)
  return found
}
