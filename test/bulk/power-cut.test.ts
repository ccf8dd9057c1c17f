import { writeFileSync } from 'node:fs'
import { CampaignClient } from 'campaign-client'
import { type AwardRow, AwardRunStoppedError, readLedger, rewardWallets } from 'campaign-client/bulk'
import { createCampaignService } from 'campaign-client/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fileLedgerOn } from '../../src/bulk/ledger/file/file-ledger.ts'
import { groupOf } from '../../src/bulk/ledger/file/format.ts'
import type { LedgerFile, LedgerStorage } from '../../src/bulk/ledger/file/storage.ts'
import { FULL_SIZE } from '../support/full-size.ts'
import { addRandomFaults, expectAgreement } from './expect-agreement.ts'
import { awards, newPath } from './fixtures.ts'
import { type Random, randomFor } from './random.ts'

const SECTOR = 512

interface File {
  durable: Buffer
  cached: Buffer
}

/** A disk that keeps flushed bytes. After a power cut, each sector that was written but not flushed is kept at random. */
class Disk implements LedgerStorage {
  readonly #random: Random
  readonly #files = new Map<string, File>()
  #isOn = true
  /** The number of flushes until the power is cut. */
  flushesLeft = Infinity
  /** The number of sectors that a cut kept after a lost sector. */
  holes = 0

  constructor(random: Random) {
    this.#random = random
  }

  /** Returns the flushed content of the file. */
  content(path: string): Buffer | undefined {
    return this.#files.get(path)?.durable
  }

  /** Writes without a flush, like a process that is then killed. */
  append(path: string, bytes: Uint8Array): void {
    const file = this.#files.get(path) as File
    file.cached = Buffer.concat([file.cached, bytes])
  }

  cut(): void {
    this.#isOn = false
    for (const file of this.#files.values()) this.#tear(file)
  }

  #tear(file: File): void {
    const { below } = this.#random
    const { durable, cached } = file
    const found = Buffer.alloc(below(4) === 0 ? durable.length : cached.length)
    let hasHole = false
    for (let at = 0; at < found.length; at += SECTOR) {
      const end = Math.min(at + SECTOR, found.length)
      if (below(2) === 0) {
        cached.subarray(at, end).copy(found, at)
        if (hasHole) this.holes++
      } else if (end > durable.length) {
        hasHole = true
      }
      // A cut never loses flushed bytes, even in a sector that was extended.
      durable.subarray(at, end).copy(found, at)
    }
    file.durable = found
    file.cached = Buffer.from(found)
  }

  restore(): void {
    this.#isOn = true
    this.flushesLeft = Infinity
  }

  async open(path: string): Promise<LedgerFile | undefined> {
    const file = this.#files.get(path)
    if (file === undefined) return undefined
    const on = <Result>(work: () => Result): Promise<Result> => this.#whileOn(work)
    return {
      read: (buffer, position) =>
        on(() => {
          const part = file.cached.subarray(position, position + buffer.length)
          buffer.set(part)
          return part.length
        }),
      write: (bytes, position) =>
        on(() => {
          const after = Buffer.alloc(Math.max(file.cached.length, position + bytes.length))
          file.cached.copy(after)
          after.set(bytes, position)
          file.cached = after
        }),
      flush: () =>
        on(() => {
          if (this.flushesLeft-- <= 0) {
            this.cut()
            throw new Error('the power was cut')
          }
          file.durable = file.cached
        }),
      truncate: (position) =>
        on(() => {
          file.cached = file.cached.subarray(0, position)
          file.durable = file.cached
        }),
      check: async () => undefined,
      close: async () => undefined,
    }
  }

  create(path: string, content: Uint8Array): Promise<void> {
    return this.#whileOn(() => {
      this.#files.set(path, { durable: Buffer.from(content), cached: Buffer.from(content) })
    })
  }

  async replaceByCopy(): Promise<void> {
    expect.unreachable('each run releases its lock')
  }

  async #whileOn<Result>(work: () => Result): Promise<Result> {
    await new Promise((resolve) => setImmediate(resolve))
    if (!this.#isOn) throw new Error('the power was cut')
    return work()
  }
}

describe('a power cut', { timeout: 300_000 }, () => {
  test('no acknowledged line is lost, and no request is sent without its intent', async () => {
    const ROWS = FULL_SIZE ? 10_000 : 1_000
    const CUTS = FULL_SIZE ? 60 : 20
    const random = randomFor('power cuts')
    const disk = new Disk(random)
    const service = createCampaignService()
    const clientWithRetry = new CampaignClient({
      baseUrl: 'https://service.example/api/v1',
      accessToken: 'a-token',
      fetch: service.fetch,
      maxRetries: 1,
    })
    const client = clientWithRetry.with({ timeoutMs: 20 })
    const endFaults = addRandomFaults(service, random, 12)
    onTestFinished(endFaults)
    const rows = awards(ROWS)
    const path = newPath()
    const ledger = fileLedgerOn(disk, path)
    const image = `${path}.image`

    let cuts = 0
    for (let round = 0; round < CUTS; round++) {
      disk.flushesLeft = random.below(ROWS / CUTS)
      const sent: AwardRow[] = []
      const watched = {
        async rewardWallet(row: AwardRow) {
          sent.push(row)
          await client.rewardWallet(row)
        },
      }
      const end = await rewardWallets(watched, rows, { ledger, concurrency: 1 + random.below(12) }).catch(
        (error) => error,
      )
      if (end instanceof AwardRunStoppedError) cuts++
      disk.restore()
      const content = disk.content(path)
      if (content === undefined) continue
      writeFileSync(image, content)
      const recorded = new Map((await readLedger(image)).map((entry) => [entry.id, entry.verdict]))
      for (const { id } of sent) expect(recorded.has(id), `the ledger lacks ${id}, which was sent`).toBe(true)
      const found = [...recorded.values()].filter((verdict) => verdict === 'awarded').length
      if (end instanceof AwardRunStoppedError) expect(found).toBeGreaterThanOrEqual(end.report.counts.awarded)
    }
    expect(cuts).toBeGreaterThan(CUTS / 3)
    expect(disk.holes, 'no cut kept a sector after a lost sector').toBeGreaterThan(0)
    endFaults()

    const report = await rewardWallets(clientWithRetry, rows, { ledger, concurrency: 16 })
    writeFileSync(image, disk.content(path) ?? '')
    expectAgreement(rows, report, await readLedger(image), service)
  })

  test('unflushed lines of a killed process are flushed before a run relies on them', async () => {
    const disk = new Disk(randomFor('a kill before a power cut'))
    const service = createCampaignService()
    const client = new CampaignClient({ baseUrl: 'https://s.example/api/v1', accessToken: 'x', fetch: service.fetch })
    const path = newPath()
    const ledger = fileLedgerOn(disk, path)
    await rewardWallets(client, awards(1), { ledger })
    const { sum = '' } = /"sum":"(?<sum>\w+)"\}\n$/.exec(String(disk.content(path)))?.groups ?? {}
    const lines = [
      '{"intent":"x","address":"0x","pid":"demo","xp":5,"at":""}\n',
      '{"verdict":"awarded","id":"x","at":""}\n',
    ]
    disk.append(path, groupOf(sum, lines).bytes)
    const { fromLedger } = await rewardWallets(client, awards(1), { ledger })
    expect(fromLedger).toBe(1)
    expect(String(disk.content(path))).toContain('{"verdict":"awarded","id":"x"')
  })

  test('the run stops after a failed flush', async () => {
    const disk = new Disk(randomFor('a failed flush'))
    const service = createCampaignService()
    const client = new CampaignClient({ baseUrl: 'https://s.example/api/v1', accessToken: 'x', fetch: service.fetch })
    const flaky: LedgerStorage = {
      create: (path, content) => disk.create(path, content),
      replaceByCopy: () => disk.replaceByCopy(),
      async open(path) {
        const file = await disk.open(path)
        let flushes = 0
        return (
          file && {
            ...file,
            async flush() {
              if (++flushes === 4) throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })
              await file.flush()
            },
          }
        )
      },
    }
    const ledger = fileLedgerOn(flaky, newPath())
    const error = await rewardWallets(client, awards(200), { ledger, concurrency: 2 }).catch((reason) => reason)
    expect(error).toBeInstanceOf(AwardRunStoppedError)
    expect(error).toHaveProperty('code', 'award_run_stopped')
    expect(error.cause).toMatchObject({ code: 'EIO' })
    // Only the calls in flight may end after the failure.
    expect(service.state.awards.length).toBeLessThanOrEqual(3 * 2 * 2)
    expect(error.report.counts.awarded + error.report.counts.indeterminate).toBeLessThanOrEqual(
      service.state.awards.length,
    )
  })
})
