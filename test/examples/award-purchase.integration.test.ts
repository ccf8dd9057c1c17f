import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCampaignService, type FaultOptions } from 'campaign-client/testing'
import { expect, onTestFinished, test } from 'vitest'
import { compiled } from '../support/compiled.ts'
import { startExample } from '../support/running-example.ts'

const pathOf = compiled('examples/award-purchase.ts')

const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7'

/** Starts a service, and returns a function that starts the example with one ledger. */
async function setUp() {
  const service = createCampaignService()
  const server = await service.listen()
  onTestFinished(() => server.close())
  const folder = mkdtempSync(join(tmpdir(), 'campaign-client-purchase-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const env = {
    CAMPAIGN_BASE_URL: server.url,
    CAMPAIGN_ACCESS_TOKEN: 'any',
    LEDGER: join(folder, 'purchases.ledger'),
  }
  return { service, start: () => startExample(pathOf('examples/award-purchase.ts'), env) }
}

/** Reports a purchase to one process. @returns its verdict; `undefined` if the report must be repeated */
async function report(url: string, order: number, wallet = WALLET): Promise<string | undefined> {
  const response = await fetch(`${url}/purchases`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ order, wallet }),
  }).catch(() => undefined)
  const body = (await response?.json().catch(() => undefined)) as { verdict?: string } | undefined
  return response?.status === 200 ? body?.verdict : undefined
}

test('award-purchase: gives the XP once, whenever a process is killed, with two processes at once', async () => {
  const { service, start } = await setUp()
  /** What a killed process has reached: its fault, and whether the service has made the award by then. */
  const steps: readonly (Omit<FaultOptions, 'on'> | undefined)[] = [
    { kind: 'hang' },
    { kind: 'hang', applied: true } as never,
    // The response is on its way, or its verdict is being recorded.
    undefined,
  ]
  let kill: () => void = () => undefined
  service.subscribe(({ kind }) => {
    if (kind === 'request_answered') kill()
  })
  const other = await start()
  for (const [order, fault] of steps.entries()) {
    const killed = await start()
    if (fault !== undefined) service.fail({ on: 'rewardWallet', ...fault } as FaultOptions)
    else kill = () => killed.process.kill('SIGKILL')
    const first = report(killed.url, order)
    if (fault !== undefined) {
      await expect.poll(() => service.pendingFaults()).toEqual([])
      killed.process.kill('SIGKILL')
    }
    expect(await killed.ended).toBe('SIGKILL')
    kill = () => undefined
    await first
    const restarted = await start()
    const verdicts = await Promise.all(
      [other, restarted].map(async ({ url }) => {
        let verdict: string | undefined
        await expect.poll(async () => (verdict = await report(url, order)), { timeout: 60_000 }).toBeDefined()
        return verdict
      }),
    )
    expect(verdicts[0]).toMatch(/^(awarded|alreadyAwarded)$/)
    expect(verdicts[1]).toBe(verdicts[0])
    expect(service.state.awards).toHaveLength(order + 1)
    restarted.process.kill('SIGKILL')
  }
  expect(await report(other.url, 0)).toMatch(/^(awarded|alreadyAwarded)$/)
  expect(service.state.awards).toHaveLength(steps.length)
})

test('award-purchase: tells a person about an award that nobody can confirm, and refuses an invalid wallet', async () => {
  const { service, start } = await setUp()
  const { url, errors } = await start()
  service.fail({ on: 'getUserProgress', kind: 'status', status: 503, times: Infinity })
  service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
  expect(await report(url, 1)).toBe('unconfirmed')
  await expect
    .poll(() => errors)
    .toEqual([expect.stringMatching(/^tell a person: npx campaign-client ledger .* --id v1-/)])
  const response = await fetch(`${url}/purchases`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ order: 2, wallet: 'ada' }),
  })
  expect(response.status).toBe(400)
  expect(service.state.awards).toHaveLength(1)
})
