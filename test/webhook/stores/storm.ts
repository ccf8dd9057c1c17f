import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import type { DeliveryStore } from '../../../src/webhook/stores/delivery-store.ts'
import { FULL_STORM } from '../../support/full-size.ts'

/** All of a storm takes a minute: the gate sends it, and who works on something else a tenth of it. */
export const stormOf = (count: number): number => (FULL_STORM ? count : count / 10)

/** What a delivery's process dies of, or not, in one attempt. */
const fates = [
  'fails',
  'dies before the work',
  'dies during the work',
  'dies after the work',
  'dies after completing',
] as const

/** What a process that dies in the middle of its work throws, so that nothing of it is committed. */
export class Death extends Error {}

interface Delivery {
  key: string
  attempts: number
  mishaps: number
}

/** How a storm went. */
export interface StormReport {
  /** Keys whose delivery was never acknowledged. */
  lost: string[]
  /** Keys that a handler began to work on while another one did and its lease had not run out. */
  overlapping: string[]
  /** How often the work of a key was done. */
  applied: Map<string, number>
  attempts: number
  deaths: number
}

/** A small deterministic generator, so that a failed storm can be run again with its seed. */
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
 * Sends `count` deliveries, every one of them in two concurrent copies, through processes that die at random points,
 * and sends each copy again until it is acknowledged. A death is what the store sees of one: the calls that would have
 * followed never come, and the lease lapses.
 *
 * @param work - what the handler does for a key: counted in `applied` when it returns `true`. With `dies` it gets as far
 *   as it can and throws a `Death`.
 */
export async function storm(
  store: DeliveryStore,
  options: { count: number; concurrency: number; leaseMs: number; seed: number },
  work: (key: string, dies: boolean) => Promise<boolean>,
): Promise<StormReport> {
  const next = random(options.seed)
  const run = `storm-${options.seed}-${process.pid}-`
  const report: StormReport = { lost: [], overlapping: [], applied: new Map(), attempts: 0, deaths: 0 }
  const acknowledged = new Set<string>()
  /** When the claim of whoever works on a key was asked for: its lease cannot have begun before. */
  const working = new Map<string, number>()

  /** One attempt of the service at one process: acknowledged with 200, or to be sent again after some milliseconds. */
  async function attempt(delivery: Delivery): Promise<'acknowledged' | number> {
    report.attempts++
    const { key } = delivery
    const askedAt = performance.now()
    const claim = await store.claim(key, options.leaseMs)
    if (claim.state === 'done') return 'acknowledged'
    if (claim.state === 'busy') return Math.min(claim.retryMs, 100)
    // As many mishaps as the service has retries: its last attempt then succeeds.
    const fate = delivery.mishaps < 4 && next() < 0.3 ? fates[Math.floor(next() * fates.length)] : undefined
    if (fate !== undefined) delivery.mishaps++
    if (fate?.startsWith('dies')) report.deaths++
    if (fate === 'dies before the work') return 1

    const other = working.get(key)
    if (other !== undefined && performance.now() < other + options.leaseMs) report.overlapping.push(key)
    working.set(key, askedAt)
    try {
      if (await work(key, fate === 'dies during the work')) report.applied.set(key, (report.applied.get(key) ?? 0) + 1)
      if (next() < 0.05) await store.extend(key, claim.token, options.leaseMs)
    } catch (error) {
      if (error instanceof Death) return 1
      throw error
    } finally {
      if (working.get(key) === askedAt) working.delete(key)
    }
    if (fate === 'dies after the work') return 1
    if (fate === 'fails') {
      await store.release(key, claim.token)
      return 1
    }
    const completed = await store.complete(key, claim.token, 3_600_000)
    return completed && fate === undefined ? 'acknowledged' : 1
  }

  const deliveries = Array.from({ length: options.count }, (_, i) => ({ key: `${run}${i}`, attempts: 0, mishaps: 0 }))
  const copies: Delivery[] = deliveries.flatMap((delivery) => [delivery, delivery])
  let open = copies.length
  let position = 0
  async function sender(): Promise<void> {
    while (open > 0) {
      const delivery = copies[position]
      if (delivery === undefined) {
        await wait(1)
        continue
      }
      position++
      const answer = await attempt(delivery)
      if (answer === 'acknowledged') {
        acknowledged.add(delivery.key)
        open--
      } else if (++delivery.attempts < 1000) {
        setTimeout(() => copies.push(delivery), answer)
      } else {
        open--
      }
    }
  }
  await Promise.all(Array.from({ length: options.concurrency }, sender))
  report.lost = deliveries.map(({ key }) => key).filter((key) => !acknowledged.has(key))
  return report
}

/** None lost, none run twice at once, and a second run of the storm finds everything done. */
export async function expectCalm(store: DeliveryStore, report: StormReport, count: number): Promise<void> {
  expect(report.lost).toEqual([])
  expect(report.overlapping).toEqual([])
  expect(report.applied.size).toBe(count)
  expect(report.deaths).toBeGreaterThan(count / 20)
  const keys = [...report.applied.keys()]
  for (let from = 0; from < keys.length; from += 200) {
    const answers = await Promise.all(keys.slice(from, from + 200).map((key) => store.claim(key, 1)))
    expect(answers.every(({ state }) => state === 'done')).toBe(true)
  }
}
