import { execFileSync, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { fileLedger, type LedgerWait, readLedger, rewardWallets } from 'campaign-client/bulk'
import { createCampaignService } from 'campaign-client/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fileLedgerOn } from '../../src/bulk/ledger/file/file-ledger.ts'
import { LockedLedger, takeLock } from '../../src/bulk/ledger/file/lock.ts'
import { fileStorage } from '../../src/bulk/ledger/file/storage.ts'
import { compiled } from '../support/compiled.ts'
import { awards, counts, held, newPath, scene } from './fixtures.ts'
import { RunProcess } from './run-process.ts'

const PROGRAM = 'test/bulk/run-program.ts'
const pathOf = compiled(PROGRAM)

/** So that nobody waits for long. */
const TIMES = { heartbeatMs: 20, watchMs: 300, settleMs: 50 }
const CONCURRENCY = 4
/** A run writes the intents of as many rows again as are with the service. */
const BEGUN_AT_ONCE = 2 * CONCURRENCY

async function startRun(path: string, haltAfter?: number) {
  const service = createCampaignService()
  const { url, close } = await service.listen()
  onTestFinished(close)
  const rows = [0, 200] as const
  const task = { baseUrl: url, ledger: { path }, rows, concurrency: CONCURRENCY, timeoutMs: 10_000 }
  return { service, run: new RunProcess(pathOf(PROGRAM), haltAfter === undefined ? task : { ...task, haltAfter }) }
}

/** Resolves when the lines of a run whose calls stand still have all got to the disk. */
async function allWritten(path: string, expected: Record<string, number>): Promise<void> {
  const written = async () => {
    const found: Record<string, number> = {}
    for await (const { verdict } of readLedger(path)) found[verdict] = (found[verdict] ?? 0) + 1
    return found
  }
  await expect.poll(written, { interval: 5 }).toEqual(expected)
}

describe('two runs on one ledger', { timeout: 30_000 }, () => {
  test('in one process: the second is refused, and the first continues', async () => {
    const { client } = scene()
    const ledger = fileLedger(newPath())
    const slow = held(client)
    const first = rewardWallets(slow, awards(8), { ledger, concurrency: 8 })
    await expect.poll(() => slow.waiting).toHaveLength(8)
    const second = rewardWallets(client, awards(200), { ledger })
    await expect(second).rejects.toThrow(/another run is using it: process \d+ on .+, since 20/)
    for (const letGo of slow.waiting) letGo()
    expect((await first).counts).toEqual(counts({ awarded: 8 }))
    expect((await rewardWallets(client, awards(8), { ledger })).fromLedger).toBe(8)
  })

  test('in two processes: the second is refused while the first lives', async () => {
    const path = newPath()
    const { run } = await startRun(path, 10)
    await run.step('halted')
    const { client } = scene()
    const refused = rewardWallets(client, awards(3), { ledger: fileLedger(path) })
    await expect(refused).rejects.toThrow(`another run is using it: process ${run.pid}`)
    run.goOn()
    expect((await run.step('report')).report).toMatchObject({ rows: 200, counts: counts({ awarded: 200 }) })
  })

  test('a holder that stood still for long is taken over, and sends nothing when it wakes up', async () => {
    const path = newPath()
    const { run, service } = await startRun(path, 10)
    const { calls } = await run.step('halted')
    await allWritten(path, { awarded: calls, indeterminate: BEGUN_AT_ONCE })
    run.signal('SIGSTOP')
    const waits: LedgerWait[] = []
    const ledger = fileLedgerOn(fileStorage, path, { onWait: (wait) => void waits.push(wait) }, TIMES)
    const { client } = scene({ fetch: service.fetch })
    const report = await rewardWallets(client, awards(200), { ledger })
    expect(report).toMatchObject({ complete: true, fromLedger: calls })
    expect(waits).toEqual([{ reason: expect.stringContaining(`process ${run.pid}`), maxMs: expect.any(Number) }])
    const before = readFileSync(path)
    run.signal('SIGCONT')
    run.goOn()
    const { name, message } = await run.step('error')
    expect(name).toBe('AwardRunStoppedError')
    // It may have stood still in the middle of a write.
    expect(message).toMatch(/another run has taken it over|another file has replaced it/)
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(service.state.awards).toHaveLength(200)
    // At most the calls that were under way already.
    expect(service.requests.length).toBeLessThanOrEqual(200 + CONCURRENCY)
  })

  test('the lock of a killed process is taken over at once, even of a zombie', async () => {
    const path = newPath()
    const { run, service } = await startRun(path, 10)
    await run.step('halted')
    const killed = run.kill()
    const next = await startRun(path)
    await killed
    // Its own service knows nothing of the first one's awards; what the ledger has is not sent again.
    const { report } = await next.run.step('report')
    expect(report).toMatchObject({ rows: 200, complete: true })
    expect(report.fromLedger).toBeGreaterThanOrEqual(10 - CONCURRENCY)
    expect(service.state.awards.length + next.service.state.awards.length).toBeGreaterThanOrEqual(200)
    expect(existsSync(`${path}.lock`)).toBe(false)
  })

  test('a lock that was taken away in the middle stops the run before it writes again', async () => {
    const path = newPath()
    const { run } = await startRun(path, 10)
    const { calls } = await run.step('halted')
    await allWritten(path, { awarded: calls, indeterminate: BEGUN_AT_ONCE })
    const before = readFileSync(path)
    renameSync(`${path}.lock`, `${path}.lock.taken`)
    writeFileSync(`${path}.lock`, readFileSync(`${path}.lock.taken`))
    run.goOn()
    const { name, message } = await run.step('error')
    expect(name).toBe('AwardRunStoppedError')
    expect(message).toContain('another run has taken it over')
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(existsSync(`${path}.lock`)).toBe(true)
  })
})

/** What a process on another machine has left behind. */
const strange = (): string => JSON.stringify({ host: 'elsewhere', pid: 1, since: 'then', nonce: randomUUID() })

describe('a lock file', () => {
  test('that nobody touches is taken over after a while', async () => {
    const path = `${newPath()}.lock`
    writeFileSync(path, strange())
    const lock = await takeLock(path, TIMES)
    lock.check()
    expect(lock.isTakenOver).toBe(true)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await lock.release()
    expect(readdirSync(dirname(path))).toEqual([])
  })

  test('of a process that has ended on this host is taken over at once, and nobody is told to wait', async () => {
    const path = `${newPath()}.lock`
    const { pid } = spawnSync(process.execPath, ['--version'])
    writeFileSync(path, JSON.stringify({ host: hostname(), pid, since: 'then', nonce: randomUUID() }))
    const waits: LedgerWait[] = []
    const lock = await takeLock(path, { ...TIMES, watchMs: 600_000 }, (wait) => void waits.push(wait))
    await lock.release()
    expect(waits).toEqual([])
  })

  test.each<[string, (path: string) => void]>([
    ['touched', (path) => utimesSync(path, new Date(), new Date(0))],
    ['written', (path) => writeFileSync(path, strange())],
    [
      'replaced',
      (path) => {
        writeFileSync(`${path}.other`, readFileSync(path))
        renameSync(`${path}.other`, path)
      },
    ],
  ])('that is %s meanwhile belongs to a run that is alive, whatever the clocks say', async (_, change) => {
    const path = `${newPath()}.lock`
    writeFileSync(path, strange())
    const taken = takeLock(path, { ...TIMES, watchMs: 600_000 }, () => change(path))
    await expect(taken).rejects.toThrow(/another run is using it: process 1 on elsewhere/)
    expect(existsSync(path)).toBe(true)
  })

  test('that is held shows a sign of life', async () => {
    const path = `${newPath()}.lock`
    const lock = await takeLock(path, TIMES)
    await expect(takeLock(path, { ...TIMES, watchMs: 600_000 })).rejects.toThrow('another run is using it')
    await lock.release()
  })

  test('that is released meanwhile is taken', async () => {
    const path = `${newPath()}.lock`
    writeFileSync(path, strange())
    const lock = await takeLock(path, { ...TIMES, watchMs: 600_000 }, () => rmSync(path))
    expect(lock.isTakenOver).toBe(false)
    await lock.release()
  })

  test.each([
    ['nothing', ''],
    ['half a line', '{"host":"el'],
    ['something else', '[1, 2]'],
  ])('with %s in it is taken over after a while', async (_, content) => {
    const path = `${newPath()}.lock`
    writeFileSync(path, content)
    const lock = await takeLock(path, TIMES)
    await lock.release()
    expect(readdirSync(dirname(path))).toEqual([])
  })

  test.each<[string, (path: string) => void]>([
    ['a folder', (path) => mkdirSync(path)],
    ['a pipe', (path) => execFileSync('mkfifo', [path])],
    ['a link that leads nowhere', (path) => symlinkSync('nowhere', path)],
    ['a link that leads somewhere', (path) => symlinkSync('/dev/null', path)],
  ])('that is %s is an error', async (_, make) => {
    const path = `${newPath()}.lock`
    make(path)
    await expect(takeLock(path, TIMES)).rejects.toThrow(`${path}, is not a regular file`)
  })

  test('of a dead holder goes to one of many takers; the others are refused', async () => {
    const path = `${newPath()}.lock`
    for (let round = 0; round < 10; round++) {
      writeFileSync(path, strange())
      const taken = await Promise.allSettled(
        Array.from({ length: 8 }, () => takeLock(path, { heartbeatMs: 4, watchMs: 40, settleMs: 100 })),
      )
      const locks = taken.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      expect(locks).toHaveLength(1)
      for (const result of taken) {
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(LockedLedger)
      }
      for (const lock of locks) {
        lock.check()
        await lock.release()
      }
      expect(readdirSync(dirname(path))).toEqual([])
    }
  })
})

describe('a process that was killed while it took a lock', () => {
  test('leaves no temporary file for ever', async () => {
    const path = newPath()
    const { client } = scene()
    await rewardWallets(client, awards(2), { ledger: fileLedger(path) })
    // Between putting the old lock file aside and making its own; and while it copied the ledger.
    writeFileSync(`${path}.lock.old`, strange())
    writeFileSync(`${path}.new`, 'half a copy')
    expect((await rewardWallets(client, awards(2), { ledger: fileLedger(path) })).fromLedger).toBe(2)
    expect(readdirSync(dirname(path))).toEqual(['awards.ledger'])
  })

  test('leaves a lock file that the next run takes over, with a copy of the ledger in its place', async () => {
    const path = newPath()
    const { client } = scene()
    await rewardWallets(client, awards(2), { ledger: fileLedger(path) })
    const { ino } = statSync(path)
    writeFileSync(`${path}.lock`, '')
    const ledger = fileLedgerOn(fileStorage, path, {}, TIMES)
    expect((await rewardWallets(client, awards(3), { ledger })).fromLedger).toBe(2)
    expect(statSync(path).ino).not.toBe(ino)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(dirname(path))).toEqual(['awards.ledger'])
  })

  test('a run that loses the lock while it copies leaves the ledger unchanged', async () => {
    const path = newPath()
    const { client } = scene()
    await rewardWallets(client, awards(2), { ledger: fileLedger(path) })
    const before = readFileSync(path)
    const { ino } = statSync(path)
    const copying = fileStorage.replaceByCopy(path, () => {
      throw new LockedLedger('taken')
    })
    await expect(copying).rejects.toThrow('taken')
    expect(statSync(path).ino).toBe(ino)
    expect(readFileSync(path).equals(before)).toBe(true)
  })
})
