import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import type { DeliveryStore } from '../../../src/webhook/stores/delivery-store.ts'

/** Returns a unique key. */
export function freshKey(): string {
  return `key-${randomUUID()}`
}

/** Claims a free delivery, and returns the token. */
export async function claimed(store: DeliveryStore, key: string, leaseMs: number): Promise<string> {
  const result = await store.claim(key, leaseMs)
  if (result.state !== 'claimed') expect.unreachable(`expected a free delivery, but it is ${result.state}`)
  return result.token
}

/** Waits for `ms` milliseconds on the clock of the store: until a claim with this lease has expired. */
export async function waitOnStoreClock(store: DeliveryStore, ms: number): Promise<void> {
  const key = freshKey()
  await claimed(store, key, ms + 1)
  await claimWhenFree(store, key)
}

/** Claims a delivery as soon as the current claim has expired. */
export async function claimWhenFree(store: DeliveryStore, key: string, leaseMs = 60_000): Promise<string> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const result = await store.claim(key, leaseMs)
    if (result.state === 'claimed') return result.token
    if (result.state === 'done') break
    await wait(Math.min(Math.max(result.retryMs, 1), 100))
  }
  return expect.unreachable(`the claim of ${key} never expired`)
}
