import { TimeoutError } from 'campaign-client'
import { equal, instance, matches, rejection } from './assertions.ts'
import type { Behaviour } from './behaviour.ts'
import { ADA, createLocalClient } from './local-client.ts'

/** Calls that end before a response. */
export const waiting: readonly Behaviour[] = [
  {
    name: 'ends an attempt that takes too long',
    async run() {
      const { client, service } = createLocalClient({ timeoutMs: 30, maxRetries: 0 })
      service.fail({ kind: 'hang' })
      matches(instance(await rejection(client.getUserProgress(ADA)), TimeoutError), { scope: 'attempt', timeoutMs: 30 })
    },
  },
  {
    name: 'the timeout of an attempt includes the body',
    async run() {
      const { client, service } = createLocalClient({ timeoutMs: 30, maxRetries: 0 })
      service.fail({ kind: 'stall' })
      matches(instance(await rejection(client.getUserProgress(ADA)), TimeoutError), { scope: 'attempt' })
    },
  },
  {
    name: 'retries after an attempt that took too long',
    async run() {
      const { client, service } = createLocalClient({ timeoutMs: 200 })
      service.fail({ kind: 'hang' })
      matches(await client.getUserProgress(ADA), { total: 1215 })
      equal(service.requests.length, 2, 'requests')
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
    name: "rejects with the caller's abort reason: aborted before the call",
    async run() {
      const { client, service } = createLocalClient()
      const reason = { why: 'the user left' }
      equal(await rejection(client.getUserProgress(ADA, { signal: AbortSignal.abort(reason) })), reason, 'reason')
      equal(service.requests.length, 0, 'requests')
    },
  },
  {
    name: "rejects with the caller's abort reason: aborted during an attempt",
    async run() {
      const controller = new AbortController()
      const reason = { why: 'the user left' }
      const { client, service } = createLocalClient({
        hooks: { onRequest: () => setTimeout(() => controller.abort(reason), 5) },
      })
      service.fail({ kind: 'hang' })
      equal(await rejection(client.getUserProgress(ADA, { signal: controller.signal })), reason, 'reason')
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
