import { randomUUID } from 'node:crypto'
import { createWebhookReceiver, type DeliveryStore, signWebhook } from 'campaign-client/webhook'
import { expect } from 'vitest'
import type { PrivateDatabase } from '../../databases/database.ts'
import { claimed, freshKey } from './store-clock.ts'

/**
 * Kills the server while a delivery is claimed, restarts it, and checks the store and its receiver.
 *
 * @param keepsRecords - whether the records of the server survive a crash
 */
export async function expectOutageHandled(
  service: PrivateDatabase,
  store: DeliveryStore,
  { keepsRecords }: { keepsRecords: boolean },
): Promise<void> {
  const password = new URL(service.url).password
  const errors: unknown[] = []
  let handled = 0
  const secret = randomUUID()
  const receiver = createWebhookReceiver({
    endpoint: 'outage',
    secret,
    store,
    handle: () => {
      handled++
    },
    onError: (error, context) => errors.push(error, context),
  })
  const body = JSON.stringify({ id: randomUUID() })
  const attempt = async () => {
    const headers = { 'x-service-signature': signWebhook(secret, body) }
    return (await receiver.fetch(new Request('http://localhost/', { method: 'POST', body, headers }))).status
  }
  const key = freshKey()
  const token = await claimed(store, key, 60_000)

  await service.kill()
  const calls = [
    store.claim(freshKey(), 1000),
    store.extend(key, token, 1000),
    store.complete(key, token, 1000),
    store.release(key, token),
  ]
  for (const call of await Promise.allSettled(calls)) {
    if (call.status === 'fulfilled') expect.unreachable('a call succeeded without the server')
    else errors.push(call.reason)
  }
  expect(await attempt()).toBe(503)
  expect(handled).toBe(0)
  for (const error of errors) {
    const shown =
      error instanceof Error ? `${error.message}\n${error.stack}${JSON.stringify(error)}` : JSON.stringify(error)
    expect(shown).not.toContain(password)
    expect(shown).not.toContain(secret)
  }

  await service.restart()
  const extendAgain = () => store.extend(key, token, 60_000).catch(() => 'failed')
  await expect.poll(extendAgain).toBe(keepsRecords)
  // A client may have another lost connection, and report it on the next call.
  await expect.poll(attempt).toBe(200)
  await expect.poll(attempt).toBe(200)
  expect(handled).toBe(1)
  // The completed work is recorded, even if the server lost the claim.
  expect(await store.complete(key, token, 60_000)).toBe(true)
  expect((await store.claim(key, 1000)).state).toBe('done')
  await receiver.close()
}
