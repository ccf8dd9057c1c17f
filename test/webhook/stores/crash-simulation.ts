import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import type { DeliveryStore } from '../../../src/webhook/stores/delivery-store.ts'
import { FULL_SIZE } from '../../support/full-size.ts'

/** Returns `count` in CI, and a fortieth of it elsewhere, because a full simulation takes a minute. */
export const sizeOf = (count: number): number => (FULL_SIZE ? count : count / 40)

const FAULTS = [
  'fails',
  'crashes before the work',
  'crashes during the work',
  'crashes after the work',
  'crashes after completing',
] as const

/** Thrown by the work to simulate a crash. The transaction is rolled back. */
export class SimulatedCrash extends Error {}

interface SimulatedDelivery {
  key: string
  attempts: number
  faults: number
}

export interface SimulationReport {
  /** Keys whose delivery was never acknowledged. */
  lost: string[]
  /** Keys that two handlers worked on at once, within the lease of the first. */
  overlapping: string[]
  /** How often the work of each key was applied. */
  applied: Map<string, number>
  attempts: number
  crashes: number
}

/** A deterministic generator, so that a failed test can be reproduced with its seed. */
function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Sends `count` deliveries, each in two concurrent copies, to processes that crash at random points. Retries each copy until
 * it is acknowledged. After a simulated crash, the process makes no more calls to the store, and its lease expires.
 *
 * @param work - the work of the handler. Returns whether it was applied. If `crashes` is true, throws a
 *   `SimulatedCrash` before the commit.
 */
export async function simulateCrashes(
  store: DeliveryStore,
  options: { count: number; concurrency: number; leaseMs: number; seed: number },
  work: (key: string, crashes: boolean) => Promise<boolean>,
): Promise<SimulationReport> {
  const next = random(options.seed)
  const run = `simulation-${options.seed}-${process.pid}-`
  const report: SimulationReport = { lost: [], overlapping: [], applied: new Map(), attempts: 0, crashes: 0 }
  const acknowledged = new Set<string>()
  /** The time when the current claim of each key was sent. Its lease cannot have started earlier. */
  const claimSentAt = new Map<string, number>()

  /** Makes one attempt. Returns `acknowledged`, or the milliseconds until the retry. */
  async function attempt(delivery: SimulatedDelivery): Promise<'acknowledged' | number> {
    report.attempts++
    try {
      return await handle(delivery)
    } catch (error) {
      // On a slow machine. The receiver responds with 503, so the service retries.
      if (error instanceof Error && error.message.includes('did not respond within')) return 1
      throw error
    }
  }

  async function handle(delivery: SimulatedDelivery): Promise<'acknowledged' | number> {
    const { key } = delivery
    const sentAt = performance.now()
    const claim = await store.claim(key, options.leaseMs)
    if (claim.state === 'done') return 'acknowledged'
    if (claim.state === 'busy') return Math.min(claim.retryMs, 100)
    // At most one fault per retry of the service, so that the last attempt succeeds.
    const fault = delivery.faults < 4 && next() < 0.3 ? FAULTS[Math.floor(next() * FAULTS.length)] : undefined
    if (fault !== undefined) delivery.faults++
    if (fault?.startsWith('crashes')) report.crashes++
    if (fault === 'crashes before the work') return 1

    const previous = claimSentAt.get(key)
    if (previous !== undefined && performance.now() < previous + options.leaseMs) report.overlapping.push(key)
    claimSentAt.set(key, sentAt)
    try {
      const before = report.applied.get(key) ?? 0
      if (await work(key, fault === 'crashes during the work')) report.applied.set(key, before + 1)
      // The commit of an earlier attempt had no response.
      else if (before === 0) report.applied.set(key, 1)
      if (next() < 0.05) await store.extend(key, claim.token, options.leaseMs)
    } catch (error) {
      if (error instanceof SimulatedCrash) return 1
      throw error
    } finally {
      if (claimSentAt.get(key) === sentAt) claimSentAt.delete(key)
    }
    if (fault === 'crashes after the work') return 1
    if (fault === 'fails') {
      await store.release(key, claim.token)
      return 1
    }
    const completed = await store.complete(key, claim.token, 3_600_000)
    return completed && fault === undefined ? 'acknowledged' : 1
  }

  const deliveries = Array.from({ length: options.count }, (_, i) => ({ key: `${run}${i}`, attempts: 0, faults: 0 }))
  const copies: SimulatedDelivery[] = deliveries.flatMap((delivery) => [delivery, delivery])
  let remaining = copies.length
  let position = 0
  async function sender(): Promise<void> {
    while (remaining > 0) {
      const delivery = copies[position]
      if (delivery === undefined) {
        await wait(1)
        continue
      }
      position++
      const result = await attempt(delivery)
      if (result === 'acknowledged') {
        acknowledged.add(delivery.key)
        remaining--
      } else if (++delivery.attempts < 1000) {
        setTimeout(() => copies.push(delivery), result)
      } else {
        remaining--
      }
    }
  }
  await Promise.all(Array.from({ length: options.concurrency }, sender))
  report.lost = deliveries.map(({ key }) => key).filter((key) => !acknowledged.has(key))
  return report
}

/** Expects that no delivery was lost or handled twice at once, and that the store reports all deliveries as done. */
export async function expectHandledOnce(store: DeliveryStore, report: SimulationReport, count: number): Promise<void> {
  expect(report.lost).toEqual([])
  expect(report.overlapping).toEqual([])
  expect(report.applied.size).toBe(count)
  expect(report.crashes).toBeGreaterThan(count / 20)
  const keys = [...report.applied.keys()]
  for (let from = 0; from < keys.length; from += 200) {
    const results = await Promise.all(keys.slice(from, from + 200).map((key) => store.claim(key, 1)))
    expect(results.every(({ state }) => state === 'done')).toBe(true)
  }
}
