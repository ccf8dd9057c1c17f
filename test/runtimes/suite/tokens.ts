import { CampaignError } from 'campaign-client'
import { instance, rejection } from './assertions.ts'
import type { Behaviour } from './behaviour.ts'
import { ADA, createLocalClient } from './local-client.ts'
import { SECRET, TOKEN } from './secrets.ts'

/** Token sources, and redaction of the token. */
export const tokens: readonly Behaviour[] = [
  {
    name: 'never shows the token',
    async run() {
      const shown: unknown[] = []
      const record = (event: unknown) => shown.push(event)
      const { client, service } = createLocalClient({
        maxRetries: 1,
        hooks: { onRequest: record, onResponse: record, onRetry: record },
      })
      service.fail({ kind: 'status', status: 503, headers: { 'retry-after': '0', 'x-request-id': `${TOKEN}-1` } })
      service.fail({ kind: 'reset', times: 2 })
      service.fail({ kind: 'status', status: 400, body: { success: true, error: { code: 400, message: TOKEN } } })
      for (let call = 0; call < 2; call++) {
        shown.push(instance(await rejection(client.getUserProgress(ADA)), CampaignError))
      }
      const leaky = createLocalClient({
        fetch: (_url, init) => Promise.reject(Object.assign(new Error(`cannot send ${TOKEN}`), { init })),
        maxRetries: 0,
      })
      shown.push(instance(await rejection(leaky.client.getUserProgress(ADA)), CampaignError))
      // The output of console.log must not show the token either.
      console.log(client, ...shown)
      for (const value of [client, ...shown]) {
        for (const text of allTextOf(value)) {
          if (text.includes(TOKEN) || text.includes(SECRET)) throw new Error(`a secret shows in ${typeof value}`)
        }
      }
    },
  },
]

/** Returns all text in a value, including non-enumerable fields. */
function* allTextOf(value: unknown, seen = new Set<unknown>()): Generator<string> {
  if (typeof value === 'string' || typeof value === 'symbol') yield String(value)
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return
  seen.add(value)
  if (seen.size === 1) yield `${String(value)} ${JSON.stringify(value)}`
  for (const key of Reflect.ownKeys(value)) {
    yield String(key)
    const descriptor = Reflect.getOwnPropertyDescriptor(value, key)
    yield* allTextOf(descriptor?.get ? descriptor.get.call(value) : descriptor?.value, seen)
  }
}
