import { TimeoutError } from 'campaign-client'
import { equal, instance, matches, rejection } from './assertions.ts'
import type { Behaviour } from './behaviour.ts'
import { ADA, createLocalClient } from './local-client.ts'

/** Calls that end before a response. */
export const waiting: readonly Behaviour[] = [
  {
    name: 'the timeout of an attempt includes the body',
    async run() {
      const { client, service } = createLocalClient({ timeoutMs: 30, maxRetries: 0 })
      service.fail({ kind: 'stall' })
      matches(instance(await rejection(client.getUserProgress(ADA)), TimeoutError), { scope: 'attempt' })
    },
  },
  {
    name: 'ends a call that exceeds its total timeout',
    async run() {
      const { client, service } = createLocalClient({ totalTimeoutMs: 30 })
      service.fail({ kind: 'hang' })
      matches(instance(await rejection(client.getUserProgress(ADA)), TimeoutError), { scope: 'total', timeoutMs: 30 })
    },
  },
  {
    name: "rejects with the caller's abort reason: aborted during the wait before a retry",
    async run() {
      const controller = new AbortController()
      const reason = 'not even an object'
      const { client, service } = createLocalClient({
        hooks: { onRetry: () => setTimeout(() => controller.abort(reason), 5) },
      })
      service.fail({ kind: 'status', status: 503, headers: { 'retry-after': '20' } })
      equal(await rejection(client.getUserProgress(ADA, { signal: controller.signal })), reason, 'reason')
      equal(service.requests.length, 1, 'requests')
    },
  },
  {
    name: "rejects with the reason of the platform's own AbortSignal.timeout",
    async run() {
      const { client, service } = createLocalClient()
      service.fail({ kind: 'hang' })
      const signal = AbortSignal.timeout(20)
      equal(await rejection(client.getUserProgress(ADA, { signal })), signal.reason, 'reason')
      matches(signal.reason, { name: 'TimeoutError' })
    },
  },
]
