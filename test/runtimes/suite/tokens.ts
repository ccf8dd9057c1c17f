import { AccessTokenError, CampaignError, UnauthorizedError } from 'campaign-client'
import { equal, instance, matches, rejection } from './assertions.ts'
import type { Behaviour } from './behaviour.ts'
import { ADA, createLocalClient } from './local-client.ts'
import { SECRET, TOKEN } from './secrets.ts'

/** Token sources, and redaction of the token. */
export const tokens: readonly Behaviour[] = [
  {
    name: 'calls a token source once for concurrent calls',
    async run() {
      let sourceCalls = 0
      const source = async () => {
        sourceCalls++
        return ` ${TOKEN}\n`
      }
      const { client } = createLocalClient({ accessToken: source })
      await Promise.all([client.getUserProgress(ADA), client.getUserProfiles(ADA), client.getCampaignInfo(ADA)])
      equal(sourceCalls, 1, 'calls of the source')
    },
  },
  {
    name: 'renews a refused token once',
    async run() {
      const answers = ['stale', TOKEN]
      const { client, service } = createLocalClient({ accessToken: () => answers.shift() ?? 'too often' })
      matches(await client.getUserProgress(ADA), { total: 1215 })
      matches(
        service.requests.map(({ status }) => status),
        [401, 200],
      )
      const notRenewed = createLocalClient({ accessToken: () => 'stale' })
      instance(await rejection(notRenewed.client.getUserProgress(ADA)), UnauthorizedError)
      equal(notRenewed.service.requests.length, 2, 'requests')
    },
  },
  {
    name: 'throws AccessTokenError when the source fails or returns an unusable value',
    async run() {
      const failing = createLocalClient({ accessToken: () => Promise.reject(new Error('the vault is sealed')) })
      const error = instance(await rejection(failing.client.getUserProgress(ADA)), AccessTokenError)
      matches(error, { code: 'access_token', cause: { message: 'the vault is sealed' } })
      const empty = createLocalClient({ accessToken: () => '' })
      instance(await rejection(empty.client.getUserProgress(ADA)), AccessTokenError)
      equal(failing.service.requests.length + empty.service.requests.length, 0, 'requests')
    },
  },
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
