import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CampaignClient, type RewardWalletRequest } from 'campaign-client'
import { fileLedger, rewardWallets } from 'campaign-client/bulk'
import { nodeTransport } from 'campaign-client/node'
import { cpuTime, OURS, OURS_ON_NODE, ratios, type Subject } from './harness.ts'
import { inParallel } from './in-parallel.ts'

const AWARDS = 10_000
const AT_ONCE = 16
const ROUNDS = 5
const TOKEN = 'a-token'

/** Compares 10 000 awards with a loop that only sends requests. */
export default async function (): Promise<Subject> {
  const service: ChildProcess = fork(fileURLToPath(new URL('./local-service.mjs', import.meta.url)), { execArgv: [] })
  const [baseUrl] = (await once(service, 'message')) as [string]
  const folder = await mkdtemp(join(tmpdir(), 'campaign-bench-'))
  const transport = nodeTransport()
  let ledgers = 0
  const bulk = async (client: CampaignClient): Promise<void> => {
    const ledger = fileLedger(join(folder, `${ledgers++}.ledger`))
    const { counts } = await rewardWallets(client, awards(), { ledger, concurrency: AT_ONCE })
    if (counts.awarded !== AWARDS) throw new Error(`only ${counts.awarded} awards were made`)
  }
  const contestants = [
    { name: 'bare fetch', run: () => bareLoop(baseUrl) },
    { name: OURS_ON_NODE, run: () => bulk(new CampaignClient({ baseUrl, accessToken: TOKEN, transport })) },
    { name: OURS, run: () => bulk(new CampaignClient({ baseUrl, accessToken: TOKEN })) },
  ]

  const samples = contestants.map((): number[] => [])
  for (let round = -1; round < ROUNDS; round++) {
    for (const [place, { run }] of contestants.entries()) {
      service.send('reset')
      await once(service, 'message')
      const before = cpuTime()
      await run()
      if (round >= 0) samples[place]?.push((cpuTime() - before) / AWARDS)
    }
  }
  transport.close()
  service.disconnect()
  await rm(folder, { recursive: true })
  const unit = samples[0] ?? []
  return {
    title: 'Bulk awards',
    about:
      `CPU time per award, for ${AWARDS} awards, ${AT_ONCE} at once. The local service runs in another process, and its event ` +
      `loop never idles. The bare loop sends the awards with \`fetch\`. ${OURS} and ${OURS_ON_NODE} (with \`nodeTransport()\`) ` +
      'also write and flush each intent and each verdict to a ledger on disk.',
    measure: 'ratio',
    groups: [
      {
        title: 'Per award',
        unitUs: unit,
        limits: { [OURS_ON_NODE]: 0.8 },
        results: contestants.map(({ name }, place) => ({ name, samples: ratios(samples[place] ?? [], unit) })),
      },
    ],
  }
}

function* awards(): Generator<RewardWalletRequest> {
  for (let number = 0; number < AWARDS; number++) {
    yield { address: `0x${number.toString(16).padStart(40, '0')}`, pid: 'demo', id: `award-${number}`, xp: 250 }
  }
}

async function bareLoop(baseUrl: string): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const rows = awards()
  await inParallel(AT_ONCE, AWARDS, async () => {
    const body = JSON.stringify(rows.next().value)
    const response = await fetch(`${baseUrl}/wallet/reward`, { method: 'POST', headers, body })
    const { success } = (await response.json()) as { success: boolean }
    if (!response.ok || !success) throw new Error(`HTTP ${response.status}`)
  })
}
