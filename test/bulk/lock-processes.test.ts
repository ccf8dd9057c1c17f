import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileLedger, type LedgerWait, readLedger, rewardWallets } from 'campaign-client/bulk'
import { createCampaignService } from 'campaign-client/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fileLedgerOn } from '../../src/bulk/ledger/file/file-ledger.ts'
import { fileStorage } from '../../src/bulk/ledger/file/storage.ts'
import { compiled } from '../support/compiled.ts'
import { awards, counts, newPath, setup } from './fixtures.ts'
import { RunProcess } from './run-process.ts'

const PROGRAM = 'test/bulk/run-program.ts'
const pathOf = compiled(PROGRAM)

/** Short times, so that the tests are fast. */
const TIMES = { heartbeatMs: 20, watchMs: 300, takeoverMs: 50 }
const CONCURRENCY = 4
/** A run claims twice as many rows as it sends at once. */
const CLAIMED_AT_ONCE = 2 * CONCURRENCY

async function startRun(path: string, haltAfter?: number) {
  const service = createCampaignService()
  const { url, close } = await service.listen()
  onTestFinished(close)
  const rows = [0, 200] as const
  const task = { baseUrl: url, ledger: { path }, rows, concurrency: CONCURRENCY, timeoutMs: 10_000 }
  return { service, run: new RunProcess(pathOf(PROGRAM), haltAfter === undefined ? task : { ...task, haltAfter }) }
}

/** Resolves when the ledger of a halted run has these verdicts. */
async function waitForVerdicts(path: string, expected: Record<string, number>): Promise<void> {
  const verdicts = async () => {
    const found: Record<string, number> = {}
    for await (const { verdict } of readLedger(path)) found[verdict] = (found[verdict] ?? 0) + 1
    return found
  }
  await expect.poll(verdicts, { interval: 5 }).toEqual(expected)
}

describe('two processes on one ledger', { timeout: 30_000 }, () => {
  test('the second is refused while the first lives', async () => {
    const path = newPath()
    const { run } = await startRun(path, 10)
    await run.step('halted')
    const { client } = setup()
    const refused = rewardWallets(client, awards(3), { ledger: fileLedger(path) })
    await expect(refused).rejects.toThrow(`another run is using it: process ${run.pid}`)
    run.resume()
    expect((await run.step('report')).report).toMatchObject({ rows: 200, counts: counts({ awarded: 200 }) })
  })

  test('a suspended process loses its lock, and sends nothing when it resumes', async () => {
    const path = newPath()
    const { run, service } = await startRun(path, 10)
    const { calls } = await run.step('halted')
    await waitForVerdicts(path, { awarded: calls, indeterminate: CLAIMED_AT_ONCE })
    run.signal('SIGSTOP')
    const waits: LedgerWait[] = []
    const ledger = fileLedgerOn(fileStorage, path, { onWait: (wait) => void waits.push(wait) }, TIMES)
    const { client } = setup({ fetch: service.fetch })
    const report = await rewardWallets(client, awards(200), { ledger })
    expect(report).toMatchObject({ complete: true, fromLedger: calls })
    expect(waits).toEqual([{ reason: expect.stringContaining(`process ${run.pid}`), maxMs: expect.any(Number) }])
    const before = readFileSync(path)
    run.signal('SIGCONT')
    run.resume()
    const { name, message } = await run.step('error')
    expect(name).toBe('AwardRunStoppedError')
    // The process may have been suspended during a write.
    expect(message).toMatch(/another run has taken it over|another file has replaced it/)
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(service.state.awards).toHaveLength(200)
    // Only calls that were in flight may be sent again.
    expect(service.requests.length).toBeLessThanOrEqual(200 + CONCURRENCY)
  })

  test('the lock of a killed process is taken over immediately, even if it is a zombie', async () => {
    const path = newPath()
    const { run, service } = await startRun(path, 10)
    await run.step('halted')
    const killed = run.kill()
    const next = await startRun(path)
    await killed
    // The second run has another service. It does not send the awards of the ledger.
    const { report } = await next.run.step('report')
    expect(report).toMatchObject({ rows: 200, complete: true })
    expect(report.fromLedger).toBeGreaterThanOrEqual(10 - CONCURRENCY)
    expect(service.state.awards.length + next.service.state.awards.length).toBeGreaterThanOrEqual(200)
    expect(existsSync(`${path}.lock`)).toBe(false)
  })

  test('a run that loses its lock stops before its next write', async () => {
    const path = newPath()
    const { run } = await startRun(path, 10)
    const { calls } = await run.step('halted')
    await waitForVerdicts(path, { awarded: calls, indeterminate: CLAIMED_AT_ONCE })
    const before = readFileSync(path)
    renameSync(`${path}.lock`, `${path}.lock.taken`)
    writeFileSync(`${path}.lock`, readFileSync(`${path}.lock.taken`))
    run.resume()
    const { name, message } = await run.step('error')
    expect(name).toBe('AwardRunStoppedError')
    expect(message).toContain('another run has taken it over')
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(existsSync(`${path}.lock`)).toBe(true)
  })
})
