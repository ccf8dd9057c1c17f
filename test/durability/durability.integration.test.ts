import { basename, dirname, join } from 'node:path'
import type { LedgerEntry } from 'campaign-client/bulk'
import { createCampaignService } from 'campaign-client/testing'
import type { ClaimResult } from 'campaign-client/webhook'
import { sqliteStore } from 'campaign-client/webhook/sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { entriesOf, newPath, temporaryFolder } from '../bulk/fixtures.ts'
import { RunProcess } from '../bulk/run-process.ts'
import type { RunStep } from '../bulk/run-program.ts'
import { compiled } from '../support/compiled.ts'
import { startServing } from '../support/running-example.ts'
import { activity, signedHeaders } from '../webhook/signed-message.ts'
import { Disk } from './disk.ts'
import { isSync, readSyscalls, type Syscall, skipsWithoutStrace, straceTo } from './strace.ts'

const RUN = 'test/bulk/run-program.ts'
const RECEIVER = 'test/durability/receiver-program.ts'
const ROWS = 4

describe.skipIf(skipsWithoutStrace())('after a power failure at any time', () => {
  const pathOf = compiled(RUN, RECEIVER)

  /** Traces two runs with one ledger: the first creates the file, the second opens it again. */
  async function traceRuns(path: string): Promise<Syscall[]> {
    const { url, close } = await createCampaignService().listen()
    onTestFinished(close)
    const traces = [0, 1].map((index) => join(temporaryFolder(), `trace-${index}`))
    for (const [index, trace] of traces.entries()) {
      const task = {
        baseUrl: url,
        ledger: { path },
        rows: [index * ROWS, ROWS],
        concurrency: 1,
        timeoutMs: 60_000,
        transport: 'nodeTransport',
        haltAfter: 2,
      } as const
      const run = new RunProcess(pathOf(RUN), task, [], straceTo(trace))
      // So that some awards are reported before the others are sent.
      await run.step('halted')
      await run.reported(2)
      run.resume()
      expect((await run.step('report')).report).toMatchObject({ complete: true, counts: { awarded: ROWS } })
      await run.ended()
    }
    return traces.flatMap(readSyscalls)
  }

  /** Returns the entries of the ledger after a power failure. */
  async function entriesAfterFailure(disk: Disk, path: string, surviving?: number): Promise<LedgerEntry[]> {
    const folder = temporaryFolder()
    disk.copyTo(folder, surviving)
    return entriesOf(join(folder, basename(path)))
  }

  test('fileLedger has each award whose request was begun, and each verdict that was reported', async () => {
    const path = newPath()
    const disk = new Disk(dirname(path))
    const sent: string[] = []
    const reported: number[] = []
    let awardedBefore = 0
    for (const syscall of await traceRuns(path)) {
      disk.apply(syscall)
      const text = String(syscall.data)
      if (syscall.path.startsWith('TCP:')) {
        // The first bytes of the request, and its id.
        const [, id = 'unknown'] = /^POST .*"id":"(award-\d+)"/s.exec(text) ?? []
        sent.push(id)
        expect((await entriesAfterFailure(disk, path)).map((entry) => entry.id)).toContain(id)
      } else if (syscall.descriptor === 1 && text.startsWith('{')) {
        const step = JSON.parse(text) as RunStep
        if (step.step !== 'progress' && step.step !== 'report') continue
        const awarded = awardedBefore + (step.step === 'progress' ? step.awarded : step.report.counts.awarded)
        reported.push(awarded)
        const recorded = awarded === 0 ? [] : await entriesAfterFailure(disk, path)
        expect(recorded.filter(({ verdict }) => verdict === 'awarded').length).toBeGreaterThanOrEqual(awarded)
        if (step.step === 'report') awardedBefore = awarded
      }
    }
    expect(sent).toEqual(Array.from({ length: 2 * ROWS }, (_, number) => `award-${number}`))
    expect(reported).toEqual(expect.arrayContaining([2, ROWS, ROWS + 2, 2 * ROWS]))
  })

  test('readLedger reads a ledger whose -wal file ends anywhere after its last sync, with each synced award', async () => {
    const path = newPath()
    const disk = new Disk(dirname(path))
    let commits = 0
    for (const syscall of await traceRuns(path)) {
      const unsynced = isSync(syscall.name) && syscall.path === `${path}-wal` ? disk.unsyncedBytes(syscall.path) : 0
      if (unsynced > 0) {
        commits++
        const before = await entriesAfterFailure(disk, path)
        const after = await entriesAfterFailure(disk, path, unsynced)
        expect(after.map(({ id }) => id)).toEqual(expect.arrayContaining(before.map(({ id }) => id)))
        for (const surviving of [1, 24, 1_000, Math.floor(unsynced / 2), unsynced - 1]) {
          expect([before, after]).toContainEqual(await entriesAfterFailure(disk, path, surviving))
        }
      }
      disk.apply(syscall)
    }
    expect(commits).toBeGreaterThan(2 * ROWS)
  })

  test('sqliteStore has the claim of each message that is being handled, and the result of each that was accepted', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'deliveries.db')
    const trace = join(temporaryFolder(), 'trace')
    const {
      url,
      process: receiver,
      ended,
    } = await startServing([...straceTo(trace), process.execPath, pathOf(RECEIVER), path])
    for (const body of [activity(), activity()].map((message) => JSON.stringify(message))) {
      expect((await fetch(url, { method: 'POST', body, headers: signedHeaders(body) })).status).toBe(200)
    }
    receiver.kill('SIGTERM')
    await ended

    const disk = new Disk(folder)
    const handled: string[] = []
    let accepted = 0
    for (const syscall of readSyscalls(trace)) {
      disk.apply(syscall)
      const text = String(syscall.data)
      if (syscall.path.startsWith('TCP:')) {
        expect(text).toMatch(/^HTTP\/1\.1 200 /)
        expect(await claimAfterFailure(disk, handled[accepted++] as string)).toEqual({ state: 'done' })
      } else if (syscall.descriptor === 1 && text.startsWith('["durability"')) {
        handled.push(text.trim())
        expect(await claimAfterFailure(disk, text.trim())).toMatchObject({ state: 'busy' })
      }
    }
    expect({ accepted, handled: handled.length }).toEqual({ accepted: 2, handled: 2 })
  })
})

/** Claims a delivery after a power failure. */
async function claimAfterFailure(disk: Disk, key: string): Promise<ClaimResult> {
  const folder = temporaryFolder()
  disk.copyTo(folder)
  const store = sqliteStore(join(folder, 'deliveries.db'))
  try {
    return await store.claim(key, 1_000)
  } finally {
    store.close()
  }
}
