import { setTimeout as wait } from 'node:timers/promises'
import { CampaignClient } from 'campaign-client'
import { type AwardReport, type AwardRow, fileLedger, type LedgerEntry, rewardWallets } from 'campaign-client/bulk'
import { type CampaignService, createCampaignService, type FaultOptions } from 'campaign-client/testing'
import { expect, onTestFinished, test } from 'vitest'
import { compiled } from '../support/compiled.ts'
import { FULL_SIZE } from '../support/full-size.ts'
import { awards, entriesOf, newPath } from './fixtures.ts'
import { type Random, randomFor } from './random.ts'
import { RunProcess } from './run-process.ts'

const PROGRAM = 'test/bulk/run-program.ts'
const pathOf = compiled(PROGRAM)

const { size, kills } = FULL_SIZE ? { size: 10_000, kills: 60 } : { size: 400, kills: 5 }

test('if runs are killed at random points, each award is made once; report, ledger and service agree', async () => {
  const path = newPath()
  const ledger = fileLedger(path)
  const random = randomFor('kills')
  const service = createCampaignService()
  const { url, close } = await service.listen()
  onTestFinished(close)
  const endFaults = addRandomFaults(service, random, 12)
  onTestFinished(endFaults)

  let killed = 0
  for (let kill = 0; kill < kills; kill++) {
    const run = new RunProcess(pathOf(PROGRAM), {
      baseUrl: url,
      ledger: { path },
      rows: [0, size],
      concurrency: 16,
      // For the fault `hang`, which never responds. With a shorter limit, a run on a busy machine gives up by itself.
      timeoutMs: 3_000,
    })
    // Kill one in five runs while it starts, and the others after some calls.
    if (random.below(5) === 0) await wait(random.below(300))
    else await run.calls(1 + random.below(Math.floor((size / kills) * 0.9)))
    await wait(random.below(8))
    killed += (await run.kill()) ? 1 : 0
  }
  expect(killed).toBe(kills)
  endFaults()

  const client = new CampaignClient({ baseUrl: url, accessToken: 'a-token' })
  const rows = awards(size)
  const report = await rewardWallets(client, rows, { ledger, concurrency: 16, confirm: false })
  expectAgreement(rows, report, await entriesOf(path), service)
  console.info(`kills: ${killed} kills, ${service.requests.length} requests, ${JSON.stringify(report.counts)}`)

  const made = new Set(service.state.awards.map(({ id, xp }) => `${id} ${xp}`))
  const confirm = ({ id, xp }: AwardRow) => made.has(`${id} ${xp}`)
  const confirmed = await rewardWallets(client, rows, { ledger, confirm })
  expect(confirmed.counts.unconfirmed).toBe(0)
  expect(confirmed.counts.alreadyAwarded).toBe(report.counts.unconfirmed)
  expectAgreement(rows, confirmed, await entriesOf(path), service)
})

const FAULTS: readonly Omit<FaultOptions, 'on' | 'times'>[] = [
  { kind: 'reset' },
  { kind: 'applied_then_reset' },
  { kind: 'hang' },
  { kind: 'hang', applied: true } as never,
  { kind: 'truncate' },
  { kind: 'garbage' },
  { kind: 'garbage', applied: true } as never,
  { kind: 'misshapen' },
  { kind: 'status', status: 500 } as never,
  { kind: 'status', status: 500, applied: true } as never,
  { kind: 'status', status: 503 } as never,
  { kind: 'status', status: 429, headers: { 'retry-after': '0' } } as never,
]

/** Makes about one in `every` requests fail, at random. @returns a function that ends the faults */
function addRandomFaults(service: CampaignService, random: Random, every: number): () => void {
  let stopped = false
  const addFault = (): void => {
    // A delay of 0 ms has no effect: `gap` requests succeed, then one fails.
    const gap = random.below(2 * every)
    if (gap > 0) service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 0, times: gap })
    const fault = FAULTS[random.below(FAULTS.length)]
    service.fail({ on: 'rewardWallet', ...fault } as FaultOptions)
  }
  const refill = setInterval(() => {
    while (!stopped && service.pendingFaults().length < 40) addFault()
  }, 2)
  for (let count = 0; count < 20; count++) addFault()
  return () => {
    stopped = true
    clearInterval(refill)
    for (const fault of service.pendingFaults()) fault.cancel()
  }
}

/** Compares the report, the ledger and the state of the service for each row. */
function expectAgreement(
  rows: readonly AwardRow[],
  report: AwardReport,
  recorded: readonly LedgerEntry[],
  service: CampaignService,
): void {
  const made = new Map<string, number>()
  for (const { id, xp } of service.state.awards) {
    expect(made.has(id), `the award ${id} was made twice`).toBe(false)
    made.set(id, xp)
  }
  const byId = new Map(recorded.map((entry) => [entry.id, entry]))
  expect(byId.size).toBe(recorded.length)
  expect(recorded.length).toBe(rows.length)
  const found: Record<string, number> = {}
  for (const { id, xp } of rows) {
    const entry = byId.get(id)
    expect(entry, `the ledger lacks ${id}`).toBeDefined()
    const verdict = entry?.verdict ?? ''
    expect(entry?.xp).toBe(xp)
    found[verdict] = (found[verdict] ?? 0) + 1
    if (verdict === 'rejected')
      expect(made.has(id), `${id} is rejected in the ledger but awarded in the service`).toBe(false)
    else expect(made.get(id), `${id} is ${verdict} in the ledger but not awarded in the service`).toBe(xp)
  }
  const counted = Object.fromEntries(Object.entries(report.counts).filter(([, count]) => count > 0))
  expect(counted).toEqual(found)
  expect(report.complete).toBe(true)
}
