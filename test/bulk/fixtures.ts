import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CampaignClient, type CampaignClientOptions } from 'campaign-client'
import { type AwardReport, type AwardRow, AwardRunStoppedError, readLedger } from 'campaign-client/bulk'
import { type CampaignService, createCampaignService } from 'campaign-client/testing'
import { expect, onTestFinished } from 'vitest'

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'campaign-client-bulk-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The path of a ledger that is not there yet. */
export const newPath = (): string => join(temporaryFolder(), 'awards.ledger')

export const wallet = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`

/** The award of a number: always the same one. */
export const award = (number: number, changes: Partial<AwardRow> = {}): AwardRow => ({
  address: wallet(number + 1),
  pid: 'demo',
  id: `award-${number}`,
  xp: number + 1,
  ...changes,
})

export const awards = (count: number, from = 0): AwardRow[] =>
  Array.from({ length: count }, (_, index) => award(from + index))

/** A service without a network, and a client that makes one attempt per call unless told otherwise. */
export function scene(options: Partial<CampaignClientOptions> = {}): {
  readonly service: CampaignService
  readonly client: CampaignClient
  /** How often `rewardWallet` was asked for. */
  readonly sent: () => number
} {
  const service = createCampaignService({
    campaigns: [
      { id: 'demo', name: 'Demo' },
      { id: 'other', name: 'Other' },
    ],
  })
  const client = new CampaignClient({
    baseUrl: 'https://service.example/api/v1',
    accessToken: 'a-token',
    fetch: service.fetch,
    maxRetries: 0,
    ...options,
  })
  return {
    service,
    client,
    sent: () => service.requests.filter(({ operation }) => operation === 'rewardWallet').length,
  }
}

/** What a run was stopped by. */
export async function stopOf(run: Promise<AwardReport>): Promise<AwardRunStoppedError> {
  const error: unknown = await run.then(
    () => expect.unreachable('the run was not stopped'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof AwardRunStoppedError)) throw error
  return error
}

const NONE = { awarded: 0, alreadyAwarded: 0, unconfirmed: 0, rejected: 0, indeterminate: 0, duplicate: 0 }

/** All counts, of which most are 0. */
export const counts = (some: Partial<AwardReport['counts']>): AwardReport['counts'] => ({ ...NONE, ...some })

/** The verdict of each id in the ledger. */
export async function verdictsIn(path: string): Promise<Record<string, string>> {
  return Object.fromEntries((await readLedger(path)).map(({ id, verdict }) => [id, verdict]))
}

/** A client whose calls wait for a word, in the order in which they came. */
export function held(client: Pick<CampaignClient, 'rewardWallet'>) {
  const waiting: (() => void)[] = []
  return {
    waiting,
    async rewardWallet(row: AwardRow): Promise<void> {
      await new Promise<void>((resolve) => waiting.push(resolve))
      await client.rewardWallet(row)
    },
  }
}
