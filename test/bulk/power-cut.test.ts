import { writeFileSync } from 'node:fs'
import { CampaignClient } from 'campaign-client'
import { type AwardRow, AwardRunStoppedError, readLedger, rewardWallets } from 'campaign-client/bulk'
import { createCampaignService } from 'campaign-client/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fileLedgerOn } from '../../src/bulk/ledger/file/file-ledger.ts'
import type { LedgerFile, LedgerStorage } from '../../src/bulk/ledger/file/storage.ts'
import { FULL_SIZE } from '../machine/full-size.ts'
import { expectAgreement, sprinkleFaults } from './proof.ts'
import { type Random, randomFor } from './random.ts'
import { awards, newPath } from './setting.ts'

const SECTOR = 512

/**
 * A disk that keeps what was flushed. When its power is cut, each sector of what was written since then is there or not,
 * as chance will have it.
 */
class Disk implements LedgerStorage {
  readonly #random: Random
  #durable: Buffer | undefined
  #cached: Buffer | undefined
  #isOn = true
  /** Cuts the power by itself after so many flushes. */
  flushesLeft = Infinity

  constructor(random: Random) {
    this.#random = random
  }

  /** What a new start would find. */
  get content(): Buffer | undefined {
    return this.#durable
  }

  cut(): void {
    this.#isOn = false
    const { below } = this.#random
    const cached = this.#cached ?? Buffer.alloc(0)
    const durable = this.#durable ?? Buffer.alloc(0)
    const found = Buffer.alloc(below(4) === 0 ? durable.length : cached.length)
    for (let at = 0; at < found.length; at += SECTOR) {
      const isWritten = below(2) === 0
      const source = isWritten ? cached : durable
      source.copy(found, at, at, Math.min(at + SECTOR, source.length, found.length))
      // What was durable stays: a sector that was written on since has its old part at least.
      durable.copy(found, at, at, Math.min(at + SECTOR, durable.length, found.length))
    }
    this.#durable = this.#durable && found
    this.#cached = this.#durable && Buffer.from(found)
  }

  restore(): void {
    this.#isOn = true
    this.flushesLeft = Infinity
  }

  async open(): Promise<LedgerFile | undefined> {
    if (this.#cached === undefined) return undefined
    const on = <Result>(work: () => Result): Promise<Result> => this.#whileOn(work)
    return {
      read: (buffer, position) =>
        on(() => {
          const part = this.#cached?.subarray(position, position + buffer.length) ?? Buffer.alloc(0)
          buffer.set(part)
          return part.length
        }),
      write: (bytes, position) =>
        on(() => {
          const before = this.#cached ?? Buffer.alloc(0)
          const after = Buffer.alloc(Math.max(before.length, position + bytes.length))
          before.copy(after)
          after.set(bytes, position)
          this.#cached = after
        }),
      flush: () =>
        on(() => {
          if (this.flushesLeft-- <= 0) {
            this.cut()
            throw new Error('the power was cut')
          }
          this.#durable = this.#cached
        }),
      truncate: (position) =>
        on(() => {
          this.#cached = this.#cached?.subarray(0, position)
          this.#durable = this.#cached
        }),
      check: async () => undefined,
      close: async () => undefined,
    }
  }

  create(_: string, content: Uint8Array): Promise<void> {
    return this.#whileOn(() => {
      this.#cached = Buffer.from(content)
      this.#durable = this.#cached
    })
  }

  async #whileOn<Result>(work: () => Result): Promise<Result> {
    await new Promise((resolve) => setImmediate(resolve))
    if (!this.#isOn) throw new Error('the power was cut')
    return work()
  }
}

describe('a power cut', { timeout: 300_000 }, () => {
  test('costs nothing that was told, and no request leaves without its intent', async () => {
    const ROWS = FULL_SIZE ? 10_000 : 1_000
    const CUTS = FULL_SIZE ? 60 : 20
    const random = randomFor('power cuts')
    const disk = new Disk(random)
    const service = createCampaignService()
    const patient = new CampaignClient({
      baseUrl: 'https://service.example/api/v1',
      accessToken: 'a-token',
      fetch: service.fetch,
      maxRetries: 1,
    })
    const client = patient.with({ timeoutMs: 20 })
    const endFaults = sprinkleFaults(service, random, 12)
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
      if (disk.content === undefined) continue
      writeFileSync(image, disk.content)
      const told = new Map((await readLedger(image)).map((entry) => [entry.id, entry.verdict]))
      for (const { id } of sent) expect(told.has(id), `${id} was sent, and the ledger does not know it`).toBe(true)
      const found = [...told.values()].filter((verdict) => verdict === 'awarded').length
      if (end instanceof AwardRunStoppedError) expect(found).toBeGreaterThanOrEqual(end.report.counts.awarded)
    }
    expect(cuts).toBeGreaterThan(CUTS / 3)
    endFaults()

    const report = await rewardWallets(patient, rows, { ledger, concurrency: 16 })
    writeFileSync(image, disk.content ?? '')
    expectAgreement(rows, report, await readLedger(image), service)
  })

  test('a flush that fails is final: what is on the disk then, only a new start can tell', async () => {
    const disk = new Disk(randomFor('a failed flush'))
    const service = createCampaignService()
    const client = new CampaignClient({ baseUrl: 'https://s.example/api/v1', accessToken: 'x', fetch: service.fetch })
    const flaky: LedgerStorage = {
      create: (path, content) => disk.create(path, content),
      async open() {
        const file = await disk.open()
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
    // At most what was in flight when it failed.
    expect(service.state.awards.length).toBeLessThanOrEqual(3 * 2 * 2)
    expect(error.report.counts.awarded + error.report.counts.indeterminate).toBeLessThanOrEqual(
      service.state.awards.length,
    )
  })
})
