import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileLedger, rewardWallets } from 'campaign-client/bulk'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findProgram } from '../support/server-process.ts'
import { awards, entriesOf, setup, stopErrorOf, temporaryFolder } from './fixtures.ts'

const [mount, umount, unshare] = ['mount', 'umount', 'unshare'].map((name) => findProgram(name) ?? name) as [
  string,
  string,
  string,
]
const missing = (() => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root can mount a small disk on Linux'
  try {
    execFileSync(unshare, ['--mount', mount, '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'this machine does not allow mounts'
  }
})()
if (missing !== undefined) console.warn(`SKIPPED: tests that need a full disk: ${missing}`)

/** Mounts a disk of this size for the test. */
function smallDisk(bytes: number): string {
  const folder = join(temporaryFolder(), 'disk')
  mkdirSync(folder)
  execFileSync(mount, ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder])
  onTestFinished(() => void execFileSync(umount, ['-l', folder]))
  return folder
}

describe.skipIf(missing !== undefined)('a full disk', () => {
  test('stops the run, and the next run continues when there is space', async () => {
    const { client, service } = setup()
    const disk = smallDisk(256 * 1024)
    const filler = join(disk, 'filler')
    writeFileSync(filler, Buffer.alloc(160 * 1024))
    const path = join(disk, 'awards.ledger')
    const rows = awards(2_000)
    const stop = await stopErrorOf(rewardWallets(client, rows, { ledger: fileLedger(path), concurrency: 8 }))
    expect(stop.cause).toMatchObject({ code: 'ENOSPC' })
    expect(stop.message).toMatch(/the ledger failed: ENOSPC/)
    const { awarded, indeterminate } = stop.report.counts
    expect(awarded).toBeGreaterThan(0)
    expect(awarded).toBeLessThan(2_000)
    expect(indeterminate).toBeLessThanOrEqual(2 * 8)
    // The ledger has every award of the service.
    const known = new Map((await entriesOf(path)).map(({ id, verdict }) => [id, verdict]))
    for (const { id } of service.state.awards) expect(known.has(id)).toBe(true)
    expect([...known.values()].filter((verdict) => verdict === 'awarded')).toHaveLength(awarded)

    // The disk is still full: the next run stops, too.
    await stopErrorOf(rewardWallets(client, rows, { ledger: fileLedger(path) }))
    rmSync(filler)
    execFileSync(mount, ['-o', 'remount,size=8m', disk])
    const report = await rewardWallets(client, rows, { ledger: fileLedger(path) })
    expect(report).toMatchObject({ rows: 2_000, complete: true, counts: { rejected: 0, indeterminate: 0 } })
    expect(report.counts.awarded + report.counts.alreadyAwarded).toBe(2_000)
    expect(report.usedBefore.awards).toBe(0)
    expect(service.state.awards).toHaveLength(2_000)
  })

  test('sends nothing if the disk is full from the start', async () => {
    const { client, sent } = setup()
    const disk = smallDisk(64 * 1024)
    try {
      writeFileSync(join(disk, 'filler'), Buffer.alloc(128 * 1024))
    } catch {
      // The write fails, because the disk is full.
    }
    const stop = await stopErrorOf(
      rewardWallets(client, awards(3), { ledger: fileLedger(join(disk, 'awards.ledger')) }),
    )
    expect(stop.cause).toMatchObject({ code: 'ENOSPC' })
    expect(sent()).toBe(0)
  })
})
