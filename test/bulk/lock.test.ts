import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileLedger, readLedger, rewardWallets } from 'campaign-client/bulk'
import { createCampaignService } from 'campaign-client/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { takeLock } from '../../src/bulk/ledger/file/lock.ts'
import { compiled } from '../machine/programs.ts'
import { RunProcess } from './run-process.ts'
import { awards, counts, held, newPath, scene } from './setting.ts'

const PROGRAM = 'test/bulk/child.ts'
const pathOf = compiled(PROGRAM)

/** So that nobody waits for long. */
const TIMES = { beatMs: 20, patienceMs: 300 }
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
  test('in one process: the second is refused, and the first goes on', async () => {
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

  test('in two processes: the second is refused while the first lives, also while it stands still', async () => {
    const path = newPath()
    const { run } = await startRun(path, 10)
    await run.step('halted')
    const { client } = scene()
    const refused = rewardWallets(client, awards(3), { ledger: fileLedger(path) })
    await expect(refused).rejects.toThrow(`another run is using it: process ${run.pid}`)
    run.signal('SIGSTOP')
    await expect(rewardWallets(client, awards(3), { ledger: fileLedger(path) })).rejects.toThrow(
      'another run is using it',
    )
    run.signal('SIGCONT')
    run.goOn()
    expect((await run.step('report')).report).toMatchObject({ rows: 200, counts: counts({ awarded: 200 }) })
  })

  test('a holder that was killed is taken over at once, also before it was buried', async () => {
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

describe('whose process can not be seen', () => {
  const holder = { host: 'elsewhere', pid: 1, boot: 'another', namespace: 'pid:[1]', started: '1', since: '2026-11-21' }

  test('one that shows no sign of life is taken over after a while', async () => {
    const path = `${newPath()}.lock`
    writeFileSync(path, JSON.stringify({ ...holder, nonce: '0123456789abcdef' }))
    const lock = await takeLock(path, TIMES)
    await lock.check()
    await lock.release()
    expect(readdirSync(dirname(path))).toEqual([])
  })

  test('one that touches its lock is not, whatever the clocks say', async () => {
    const path = `${newPath()}.lock`
    const held = await takeLock(path, TIMES)
    const text = readFileSync(path, 'utf8').replace(/"boot":"[^"]*"/, '"boot":"another"')
    writeFileSync(path, text)
    const patient = { ...TIMES, patienceMs: 30_000 }
    await expect(takeLock(path, patient)).rejects.toThrow('another run is using it')
    await held.release()
  })

  test('one that lets go in the meantime is succeeded', async () => {
    const path = `${newPath()}.lock`
    const held = await takeLock(path, TIMES)
    writeFileSync(path, readFileSync(path, 'utf8').replace(/"boot":"[^"]*"/, '"boot":"another"'))
    const next = takeLock(path, { ...TIMES, patienceMs: 5_000 }).catch(() => takeLock(path, TIMES))
    await wait(30)
    await held.release()
    await (await next).release()
  })

  test.each([
    ['nothing', ''],
    ['half a line', '{"host":"el'],
    ['something else', '[1, 2]'],
  ])('a lock with %s in it is taken over after a while', async (_, content) => {
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
  ])('%s in the place of the lock is an error', async (_, make) => {
    const path = `${newPath()}.lock`
    make(path)
    await expect(takeLock(path, TIMES)).rejects.toThrow(`${path}, is not a regular file`)
  })
})

describe('takers that come at once', () => {
  test('one of them gets the lock of a dead holder, the others are refused', async () => {
    for (let round = 0; round < 10; round++) {
      const path = `${newPath()}.lock`
      const dead = { host: 'elsewhere', pid: 1, boot: 'another', namespace: 'x', started: '1', since: 'then' }
      writeFileSync(path, JSON.stringify({ ...dead, nonce: '0123456789abcdef' }))
      const taken = await Promise.allSettled(
        Array.from({ length: 8 }, () => takeLock(path, { beatMs: 4, patienceMs: 20 })),
      )
      const locks = taken.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      expect(locks).toHaveLength(1)
      for (const lock of locks) {
        await lock.check()
        await lock.release()
      }
      expect(readdirSync(dirname(path))).toEqual([])
    }
  })

  test('crashes in the middle of taking over do not bar the way', async () => {
    const path = `${newPath()}.lock`
    const dead = { host: 'elsewhere', pid: 1, boot: 'another', namespace: 'x', started: '1', since: 'then' }
    writeFileSync(path, JSON.stringify({ ...dead, nonce: '0123456789abcdef' }))
    writeFileSync(`${path}.0123456789abcdef`, JSON.stringify({ ...dead, nonce: '1111111111111111' }))
    writeFileSync(`${path}.0123456789abcdef.1111111111111111`, '')
    const lock = await takeLock(path, TIMES)
    await lock.check()
    await lock.release()
    expect(readdirSync(dirname(path))).toEqual([])
  })
})
