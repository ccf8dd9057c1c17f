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
import { type AwardRow, fileLedger, type LedgerWait, rewardWallets } from 'campaign-client/bulk'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { fileLedgerOn } from '../../src/bulk/ledger/file/file-ledger.ts'
import { type Lock, LockedLedger, takeLock } from '../../src/bulk/ledger/file/lock.ts'
import { fileStorage } from '../../src/bulk/ledger/file/storage.ts'
import {
  awards,
  counts,
  holdCalls,
  newPath,
  openFiles,
  recordFlushes,
  setup,
  stopErrorOf,
  verdictsOf,
} from './fixtures.ts'

/** Short times, so that the tests are fast. */
const TIMES = { heartbeatMs: 20, watchMs: 300, takeoverMs: 50 }

test('a second run in the same process is refused, and the first continues', async () => {
  const { client } = setup()
  const ledger = fileLedger(newPath())
  const slow = holdCalls(client)
  const first = rewardWallets(slow, awards(8), { ledger, concurrency: 8 })
  await expect.poll(() => slow.waiting).toHaveLength(8)
  const second = rewardWallets(client, awards(200), { ledger })
  await expect(second).rejects.toThrow(/another run is using it: process \d+ on .+, since 20/)
  for (const resume of slow.waiting) resume()
  expect((await first).counts).toEqual(counts({ awarded: 8 }))
  expect((await rewardWallets(client, awards(8), { ledger })).fromLedger).toBe(8)
})

test.each<[string, (lockPath: string) => void]>([
  ['another run takes over', replaceByCopy],
  ['somebody removes', (lockPath) => rmSync(lockPath)],
])('a run whose lock file %s stops before its next request', async (_, loseLock) => {
  const { client, sent } = setup()
  const path = newPath()
  const losing = {
    async rewardWallet(row: AwardRow) {
      await client.rewardWallet(row)
      loseLock(`${path}.lock`)
    },
  }
  const stop = await stopErrorOf(rewardWallets(losing, awards(20), { ledger: fileLedger(path), concurrency: 1 }))
  expect(stop.message).toContain(`The ledger ${path} can't be used: another run has taken it over`)
  expect(sent()).toBe(1)
  expect(await verdictsOf(path)).not.toHaveProperty('award-0', 'awarded')
  expect(existsSync(`${path}.lock`)).toBe(loseLock === replaceByCopy)
})

function replaceByCopy(path: string): void {
  writeFileSync(`${path}.copy`, readFileSync(path))
  renameSync(`${path}.copy`, path)
}

const lockOf = (host: string, pid: number): string => JSON.stringify({ host, pid, since: 'then', nonce: randomUUID() })
/** Returns the content of a lock file from another host. This host has no process with that id. */
const foreignLock = (): string => lockOf('elsewhere', 2 ** 30)
const endedLock = (): string => lockOf(hostname(), spawnSync(process.execPath, ['--version']).pid)

const isHeld = (lock: Lock): boolean => {
  try {
    lock.check()
    return true
  } catch {
    return false
  }
}

describe('a lock file', () => {
  test('without a heartbeat is taken over after the watch time', async () => {
    const path = `${newPath()}.lock`
    writeFileSync(path, foreignLock())
    const lock = await takeLock(path, TIMES)
    lock.check()
    expect(lock.isTakenOver).toBe(true)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await lock.release()
    expect(readdirSync(dirname(path))).toEqual([])
  })

  test('of a process that has ended on this host is taken over without a wait', async () => {
    const path = `${newPath()}.lock`
    writeFileSync(path, endedLock())
    const waits: LedgerWait[] = []
    const lock = await takeLock(path, { ...TIMES, watchMs: 600_000 }, (wait) => void waits.push(wait))
    await lock.release()
    expect(waits).toEqual([])
  })

  test.each<[string, (path: string) => void]>([
    ['touched', (path) => utimesSync(path, 0, 1)],
    [
      'written',
      (path) => {
        writeFileSync(path, foreignLock())
        utimesSync(path, 0, 0)
      },
    ],
    ['replaced', replaceByCopy],
  ])('that is %s during the watch time belongs to a live run', async (_, change) => {
    const path = `${newPath()}.lock`
    writeFileSync(path, foreignLock())
    utimesSync(path, 0, 0)
    const taken = takeLock(path, { ...TIMES, watchMs: 600_000 }, () => change(path))
    await expect(taken).rejects.toThrow(/another run is using it: process \d+ on elsewhere/)
    expect(existsSync(path)).toBe(true)
  })

  test.each<[string, () => true]>([
    ['this user', () => true],
    [
      'another user',
      () => {
        throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' })
      },
    ],
  ])('has a heartbeat while a process of %s holds it', async (_, kill) => {
    vi.spyOn(process, 'kill').mockImplementation(kill)
    onTestFinished(() => void vi.restoreAllMocks())
    const path = `${newPath()}.lock`
    const lock = await takeLock(path, TIMES)
    await expect(takeLock(path, { ...TIMES, watchMs: 600_000 })).rejects.toThrow('another run is using it')
    await lock.release()
  })

  test('that is released during the watch time can be taken', async () => {
    const path = `${newPath()}.lock`
    writeFileSync(path, foreignLock())
    const lock = await takeLock(path, { ...TIMES, watchMs: 600_000 }, () => rmSync(path))
    expect(lock.isTakenOver).toBe(false)
    await lock.release()
  })

  test.each([
    ['no content', ''],
    ['half a line', '{"host":"el'],
    ['other JSON', '[1, 2]'],
    ['no host', '{"pid":1}'],
    ['process 0', lockOf('elsewhere', 0)],
  ])('with %s is taken over after the watch time', async (_, content) => {
    const path = `${newPath()}.lock`
    writeFileSync(path, content)
    const reasons: string[] = []
    const lock = await takeLock(path, TIMES, ({ reason }) => void reasons.push(reason))
    await lock.release()
    expect(readdirSync(dirname(path))).toEqual([])
    expect(reasons).toEqual(['another run is starting to use it. Its lock file has no heartbeat'])
  })

  test('that two runs have taken over belongs to the second run', async () => {
    const path = `${newPath()}.lock`
    writeFileSync(path, endedLock())
    const taken = expect(takeLock(path, { ...TIMES, takeoverMs: 300 })).rejects.toThrow(LockedLedger)
    await expect.poll(() => readFileSync(path, 'utf8')).toContain(`"pid":${process.pid}`)
    replaceByCopy(path)
    await taken
    expect(existsSync(path)).toBe(true)
  })

  test('that cannot be renamed causes an error', async () => {
    const path = `${newPath()}.lock`
    writeFileSync(path, endedLock())
    mkdirSync(`${path}.old`)
    await expect(takeLock(path, TIMES)).rejects.toMatchObject({ code: 'EISDIR' })
  })

  test.each<[string, (path: string) => void]>([
    ['a folder', (path) => mkdirSync(path)],
    ['a pipe', (path) => execFileSync('mkfifo', [path])],
    ['a broken link', (path) => symlinkSync('nowhere', path)],
    ['a link', (path) => symlinkSync('/dev/null', path)],
  ])('that is %s causes an error', async (_, make) => {
    const path = `${newPath()}.lock`
    make(path)
    await expect(takeLock(path, TIMES)).rejects.toThrow(`${path}, is not a regular file`)
  })

  test('without a heartbeat is taken over by only one of several runs', async () => {
    const path = `${newPath()}.lock`
    for (let round = 0; round < 10; round++) {
      writeFileSync(path, foreignLock())
      const taken = await Promise.allSettled(
        Array.from({ length: 8 }, () => takeLock(path, { heartbeatMs: 4, watchMs: 40, takeoverMs: 100 })),
      )
      const locks = taken.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      // On a slow machine, a run can lose its lock to another run immediately.
      expect(locks.filter(isHeld)).toHaveLength(1)
      for (const result of taken) {
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(LockedLedger)
      }
      for (const lock of locks) await lock.release()
      expect(readdirSync(dirname(path))).toEqual([])
    }
  })
})

describe('a process that is killed while it takes a lock', () => {
  test('leaves temporary files, which the next run removes', async () => {
    const path = newPath()
    const { client } = setup()
    await rewardWallets(client, awards(2), { ledger: fileLedger(path) })
    // The process was killed after it renamed the old lock file, while it copied the ledger.
    writeFileSync(`${path}.lock.old`, foreignLock())
    writeFileSync(`${path}.new`, 'half a copy')
    expect((await rewardWallets(client, awards(2), { ledger: fileLedger(path) })).fromLedger).toBe(2)
    expect(readdirSync(dirname(path))).toEqual(['awards.ledger'])
  })

  test('leaves a lock file, and the next run replaces the ledger by a copy', async () => {
    const path = newPath()
    const { client } = setup()
    await rewardWallets(client, awards(2), { ledger: fileLedger(path) })
    const { ino } = statSync(path)
    writeFileSync(`${path}.lock`, '')
    const waits: LedgerWait[] = []
    const onWait = (wait: LedgerWait): never => {
      waits.push(wait)
      throw new Error('an error of the callback is ignored')
    }
    const flushes = await recordFlushes()
    const ledger = fileLedgerOn(fileStorage, path, { onWait }, TIMES)
    expect((await rewardWallets(client, awards(3), { ledger })).fromLedger).toBe(2)
    const reason = 'another run is starting to use it. Its lock file has no heartbeat'
    expect(waits).toEqual([{ reason, maxMs: expect.any(Number) }])
    expect(waits[0]?.maxMs).toBeLessThan(TIMES.watchMs)
    expect(statSync(path).ino).not.toBe(ino)
    expect(flushes.slice(0, 2)).toEqual([`${path}.new`, dirname(path)])
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(dirname(path))).toEqual(['awards.ledger'])
    expect(openFiles(path)).toEqual([])
  })

  test('leaves no ledger if it has not created it, and the next run creates it', async () => {
    const path = newPath()
    writeFileSync(`${path}.lock`, endedLock())
    expect((await rewardWallets(setup().client, awards(1), { ledger: fileLedger(path) })).counts.awarded).toBe(1)
  })

  test('leaves the ledger unchanged if it loses the lock while it copies', async () => {
    const path = newPath()
    const { client } = setup()
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
