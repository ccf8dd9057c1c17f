import { Agent, get } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { CampaignClient } from 'campaign-client'
import { nodeTransport } from 'campaign-client/node'
import { cpuTime, type Group, OURS, OURS_ON_NODE, type Subject } from './harness.ts'
import { inParallel } from './in-parallel.ts'
import { startServer } from './loopback.ts'
import { answerWith } from './sample.ts'
import { textOf } from './text-of.ts'

const SIZES = [1, 10, 100, 1_000, 10_000]
/** Of each process the system allows some 20 000 open files; the other calls wait in line, which is what this is about. */
const CONNECTIONS = 256
const LEAST_CALLS = 2_000
const ROUNDS = 5
const QUERY = { account: 'ada', platform: 'discord', pid: 'demo' }

/** What a call costs when very many of them are under way. */
export default async function (): Promise<Subject> {
  const { origin, stop } = await startServer()
  const settings = { baseUrl: `${origin}/5`, accessToken: 'a-token', timeoutMs: 60_000 }
  const transport = nodeTransport({ maxSockets: CONNECTIONS })
  const onNode = new CampaignClient({ ...settings, transport })
  const inMemory = new CampaignClient({ ...settings, fetch: answerFromMemory() })
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const url = `${origin}/5/user/progress?${new URLSearchParams(QUERY)}`
  const contestants: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['node:http', async () => JSON.parse(await textOf(get(url, { agent })))],
    [OURS_ON_NODE, () => onNode.getUserProgress(QUERY)],
    [`${OURS}, in memory`, () => inMemory.getUserProgress(QUERY)],
  ]
  for (const [, call] of contestants) await inParallel(16, 6_000, call)

  const groups: Group[] = []
  for (const size of SIZES) {
    const results: Group['results'][number][] = []
    for (const [name, call] of contestants) results.push({ name, samples: await cpuOf(size, call) })
    groups.push({ title: `${size} in flight`, unitUs: [], results })
  }
  transport.close()
  agent.destroy()
  stop()
  return {
    title: 'Calls in flight',
    about:
      `CPU time of the calling process for one call of 1 KB, in microseconds, with so many of them under way, over ` +
      `${CONNECTIONS} connections: the others wait in line. “In memory” is the client with ky and a \`fetch\` that answers ` +
      'from memory when all calls have been made. These are no ratios; what travels is whether they grow.',
    measure: 'amount',
    groups,
  }
}

async function cpuOf(size: number, call: () => Promise<unknown>): Promise<number[]> {
  const calls = Math.max(size, LEAST_CALLS)
  const samples: number[] = []
  for (let round = -1; round < ROUNDS; round++) {
    const before = cpuTime()
    await inParallel(size, calls, call)
    if (round >= 0) samples.push((cpuTime() - before) / calls)
  }
  return samples
}

function answerFromMemory(): () => Promise<Response> {
  const text = answerWith(5)
  return async () => {
    await setImmediate()
    return new Response(text, { headers: { 'content-type': 'application/json' } })
  }
}
