import { compareCalls } from './compare-calls.ts'
import { OURS, type Subject } from './harness.ts'

/** What a call costs the calling process, beside its peers. */
export default async function (rival: number): Promise<Subject> {
  const aims = [1.5, 1.6, 1.15, 1.15].map((aim) => ({ [OURS]: aim }))
  return {
    title: 'One call',
    about:
      'CPU time of the calling process for one GET, answered from memory by a second process over loopback: ' +
      'from the arguments to the data. Beside a bare `fetch` with `JSON.parse`. Only campaign-client checks the ' +
      'arguments and the data, and can be aborted after a time; campaign-client/node is the same client with ' +
      '`nodeTransport()`. “ky, lean” has retries, limits and status errors turned off, which is the least that anything ' +
      'on ky costs; node:http and stripe do without `fetch`.',
    measure: 'ratio',
    groups: await compareCalls((clients) => clients, rival, aims),
  }
}
