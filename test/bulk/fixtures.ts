import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { CampaignClient, type CommonClientOptions, type FetchLike } from 'campaign-client'
import {
  type AwardReport,
  type AwardRow,
  AwardRunStoppedError,
  type LedgerEntry,
  readLedger,
} from 'campaign-client/bulk'
import { type CampaignService, createCampaignService } from 'campaign-client/testing'
import { expect, onTestFinished } from 'vitest'
import type { LedgerSession } from '../../src/bulk/ledger/ledger.ts'

/** Creates a folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'campaign-client-bulk-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Returns the path of a new ledger. */
export const newPath = (): string => join(temporaryFolder(), 'awards.ledger')

/** Returns the files in the folder of a ledger that are open, and the folder itself if it is open. */
export const openFiles = (path: string): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${fd}`)
      return file.startsWith(dirname(path)) ? [file] : []
    } catch {
      return []
    }
  })

export const wallet = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`

/** Returns the award with this number. The same number gives the same award. */
export const award = (number: number, changes: Partial<AwardRow> = {}): AwardRow => ({
  address: wallet(number + 1),
  pid: 'demo',
  id: `award-${number}`,
  xp: number + 1,
  ...changes,
})

export const awards = (count: number, from = 0): AwardRow[] =>
  Array.from({ length: count }, (_, index) => award(from + index))

/** Creates a local service and its client, which makes one attempt per call by default. */
export function setup(options: Partial<CommonClientOptions> & { fetch?: FetchLike | undefined } = {}): {
  readonly service: CampaignService
  readonly client: CampaignClient
  /** Returns the number of `rewardWallet` requests. */
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

/** Returns the error of a run that stops. */
export async function stopErrorOf(run: Promise<AwardReport>): Promise<AwardRunStoppedError> {
  const error: unknown = await run.then(
    () => expect.unreachable('the run did not stop'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof AwardRunStoppedError)) throw error
  return error
}

const NONE = { awarded: 0, alreadyAwarded: 0, unconfirmed: 0, rejected: 0, indeterminate: 0, duplicate: 0 }

/** Returns all counts, with 0 as the default. */
export const counts = (some: Partial<AwardReport['counts']>): AwardReport['counts'] => ({ ...NONE, ...some })

/** Returns the entries of a ledger. */
export async function entriesOf(path: string): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = []
  for await (const entry of readLedger(path)) entries.push(entry)
  return entries
}

/** Returns the verdicts of a ledger by id. */
export async function verdictsOf(path: string): Promise<Record<string, string>> {
  return Object.fromEntries((await entriesOf(path)).map(({ id, verdict }) => [id, verdict]))
}

/** Returns a session with some methods replaced. */
export const sessionWith = (session: LedgerSession, methods: Partial<LedgerSession>): LedgerSession => ({
  claim: (...args) => session.claim(...args),
  complete: (...args) => session.complete(...args),
  release: (attempt) => session.release(attempt),
  lookUp: (...args) => session.lookUp(...args),
  findConflict: (row) => session.findConflict(row),
  close: () => session.close(),
  ...methods,
})

/** Wraps a client so that each call waits until the test calls its function in `waiting`. */
export function holdCalls(client: Pick<CampaignClient, 'rewardWallet'>) {
  const waiting: (() => void)[] = []
  return {
    waiting,
    async rewardWallet(row: AwardRow): Promise<void> {
      await new Promise<void>((resolve) => waiting.push(resolve))
      await client.rewardWallet(row)
    },
  }
}
