import {
  mustBeSignal,
  nonNegativeMilliseconds,
  type OptionRules,
  optional,
  readOptions,
  within,
} from '../../errors/option-checks.ts'
import { type FetchHandler, fetchAdapter } from './adapters/fetch.ts'
import { type LambdaHandler, lambdaAdapter } from './adapters/lambda.ts'
import { type FastifyPlugin, fastifyAdapter, type NodeHandler, nodeAdapter } from './adapters/node.ts'
import { forgetMessage, GIVEN_UP_MS, keepingStore, listFailed, type WebhookFailedMessage } from './failed-messages.ts'
import { receiverSettings, type WebhookReceiverOptions } from './options.ts'
import { Receiver, type WebhookReplayOutcome } from './receiver.ts'

/** Options of {@link WebhookReceiver.close}. */
export interface WebhookCloseOptions {
  /**
   * How long running handlers may continue, in milliseconds; 0 aborts them at once.
   *
   * @defaultValue 10 000
   */
  timeoutMs?: number | undefined
}

/** Options of {@link WebhookReceiver.failed}. */
export interface WebhookFailedOptions {
  /**
   * The time since the last failure, in milliseconds; at least 0. With the default, the list has the messages that the service has
   * given up: its longest delay between two attempts is 300 s.
   *
   * @defaultValue 400 000
   */
  olderThanMs?: number | undefined
}

/** Options of {@link WebhookReceiver.replay}. */
export interface WebhookReplayOptions {
  /** Stops the replay: the signal of the handler fires with the same reason. */
  signal?: AbortSignal | undefined
}

/** A webhook endpoint for every runtime. Its functions need no `this`. */
export interface WebhookReceiver {
  /**
   * Takes a `Request` and returns a `Response`: for Hono, Next route handlers, Workers, Bun and Deno. Some runtimes (Workers,
   * Vercel) stop after the response. Pass their context as the second argument, so that a handler that runs longer than
   * `deadlineMs` can finish.
   *
   * @throws TypeError (as a rejection) when the argument is not a `Request`
   */
  readonly fetch: FetchHandler
  /**
   * Responds to a request of node:http, Express or Nest. If a platform has stored the body in `req.rawBody` or `req.body`, as bytes
   * of any kind (a typed array, an `ArrayBuffer`, a `Blob`, or a stream of bytes), uses these bytes. Otherwise reads the stream of
   * the request. Uses text in these properties only if the stream is empty or was read before.
   *
   * @throws TypeError (as a rejection) when the arguments are not a request and its response
   */
  readonly node: NodeHandler
  /**
   * Responds to an event of API Gateway (REST and HTTP APIs), of an application load balancer or of a function URL.
   *
   * Responds when the handler has ended, even after `deadlineMs`: Lambda freezes the function after the response. If the
   * gateway times out first, the invocation continues, and a later attempt finds the message done. Pass the context
   * too: the response is then due 500 ms before the function times out, or a tenth of the remaining time if that is less.
   * The signal of the handler fires 500 ms before the response is due, and at the latest after `maxRunMs`. If the context
   * throws, or returns no number for the remaining time, the response is due after `deadlineMs`.
   *
   * @throws TypeError (as a rejection) when the event is not an HTTP event
   */
  readonly lambda: LambdaHandler
  /**
   * A Fastify plugin that serves POST at its prefix: `app.register(receiver.fastify, { prefix: '/webhooks/campaign' })`.
   * The body parsers of the application do not apply to this route.
   */
  readonly fastify: FastifyPlugin
  /**
   * Closes the receiver: new messages get 503, and running handlers may finish. After `timeoutMs` the signals
   * of running handlers fire. A handler that stops then is not done: its sender gets 503. One second later the remaining
   * claims are released, so that another process can handle the next attempt at once. Resolves at most two seconds after
   * `timeoutMs`, and never rejects. A second call returns the same promise.
   *
   * @throws ConfigurationError when an option is misspelt, or `timeoutMs` is not a number from 0 to 2 147 483 647
   */
  close(options?: WebhookCloseOptions): Promise<void>
  /**
   * Lists the messages of this `endpoint` that failed and are kept, the oldest `lastFailedAt` first. Needs `keepFailed`. A message
   * with a current claim is not listed. Works after `close()`, too.
   *
   * By default, lists the messages that the service has given up. Each step reads up to 25 messages. A message that fails
   * again while you iterate is not listed twice.
   *
   * @throws ConfigurationError when an option is wrong or misspelt, or the store keeps no messages
   *
   * @example
   * ```ts
   * for await (const { key, reason, error } of receiver.failed()) {
   *   console.log(key, reason, error, await receiver.replay(key))
   * }
   * ```
   */
  failed(options?: WebhookFailedOptions): AsyncIterable<WebhookFailedMessage>
  /**
   * Calls the handler with a kept message, with `isReplay: true` in its context. Uses a claim with the same lease and limits as
   * a delivery, so that a message has one handler at a time during its lease. `onHandled` and `onError` are called as for a
   * delivery.
   *
   * If `signal` fires, the signal of the handler fires, and the claim is released when the handler has stopped. The promise
   * rejects with the reason then, at the latest after a second; at once if the handler has not started.
   *
   * @param key - the `key` of a failed message
   * @returns how the replay ended
   * @throws ConfigurationError (as a rejection) when an option is wrong or misspelt, the receiver is closed, or the store keeps no
   *   messages
   * @throws TypeError (as a rejection) when the key is not a string
   * @throws the error of the store (as a rejection), or the reason of `signal`
   */
  replay(key: string, options?: WebhookReplayOptions): Promise<WebhookReplayOutcome>
  /**
   * Removes a kept message and its failures. The message of a handler that is running is removed, too; the handler continues. If
   * the service sends the message again, it is handled again. Works after `close()`, too.
   *
   * @param key - the `key` of a failed message
   * @returns whether a message was kept
   * @throws ConfigurationError (as a rejection) when the store keeps no messages
   * @throws TypeError (as a rejection) when the key is not a string
   * @throws the error of the store (as a rejection)
   */
  forget(key: string): Promise<boolean>
}

/**
 * Creates a webhook endpoint, which verifies messages, recognises duplicates and calls your handler until a message is done.
 *
 * | outcome | response |
 * |---|---|
 * | the message was handled, was handled before, or the handler threw `DiscardEvent` | 200 |
 * | another attempt is being handled | 503 and `Retry-After` |
 * | the handler runs longer than `deadlineMs`, and continues | 503 and `Retry-After` |
 * | `interrupted`: the handler threw after its signal had fired, or returned and had read the signal | 503 and `Retry-After` |
 * | the store or the secret is unavailable, or the receiver is closing | 503 and `Retry-After` |
 * | the handler threw; its claim is released before the response | 500 |
 * | a documented message lacks a required field, and `unexpectedShape` is `'retry'` | 500 |
 * | the signature is missing, malformed or wrong; all three get the same response | 401 |
 * | the body is longer than `maxBodyBytes` | 413 |
 * | the method is not POST | 405 and Allow |
 * | the message is signed but malformed, or the sender disconnected | 400 |
 * | the body did not arrive by `deadlineMs` | 408 |
 * | the body was parsed or consumed before the receiver; `onError` receives the cause | 500 |
 *
 * A message of an undocumented kind is handled too, with `kind: 'unknown'`.
 *
 * A handler that stops early is not done. If its signal has fired and it throws, or returns after it has read `signal`, its
 * claim is released and the service retries. So `signal.throwIfAborted()` and `if (signal.aborted) return` lose no message. A
 * handler that finishes its work all the same is called again; `runOnce` makes that harmless.
 *
 * Every message is handled at least once while the service retries, and never by two handlers at once during a lease.
 * Writes in `runOnce` of the SQLite and PostgreSQL stores take effect exactly once. When the handler succeeds and the store
 * cannot record the success, the response is 200, because a retry would run the handler again; `onError` receives the failure. The
 * receiver tries to record the success up to five times. The response waits for the first attempt, at most two seconds. The
 * signature contains no time stamp: only the record of done messages, kept for `retainMs`, prevents replay attacks.
 *
 * The service sends a message at most five times, within about 400 s. With `keepFailed`, a message that no attempt handled stays in the
 * store, and {@link WebhookReceiver.replay} handles it.
 *
 * See "Signature" and "Delivery and retries" in docs/the-service.md. Assumed: the service retries after any response other
 * than 2xx and after a timeout, and each delay starts with the previous attempt.
 *
 * @throws ConfigurationError when an option is missing, misspelt or wrong, a secret is unusable, `maxRunMs + leaseMs` is over
 *   295 000, or `keepFailed` is set and the store cannot keep messages
 *
 * @example
 * ```ts
 * const receiver = createWebhookReceiver({
 *   endpoint: 'campaign',
 *   secret: () => loadSecret(),
 *   async handle(event, { signal }) {
 *     if (event.kind === 'quest_completed') await grantBadge(event.payload.user, { signal })
 *   },
 * })
 * app.post('/webhooks/campaign', receiver.node)
 * ```
 */
export function createWebhookReceiver(options: WebhookReceiverOptions): WebhookReceiver {
  const settings = receiverSettings(options)
  const receiver = new Receiver(settings)
  return {
    fetch: fetchAdapter(receiver),
    node: nodeAdapter(receiver),
    lambda: lambdaAdapter(receiver),
    fastify: fastifyAdapter(receiver),
    close(closeOptions = {}) {
      const { timeoutMs = 10_000 } = readOptions('close', closeOptions, closeRules())
      return receiver.close(timeoutMs)
    },
    failed(failedOptions = {}) {
      const { olderThanMs = GIVEN_UP_MS } = readOptions('failed', failedOptions, failedRules())
      return listFailed(keepingStore(settings), settings.endpoint, olderThanMs)
    },
    async replay(key, replayOptions = {}) {
      const { signal } = readOptions('replay', replayOptions, replayRules())
      return receiver.replay(key, signal)
    },
    forget: (key) => forgetMessage(settings, key),
  }
}

const closeRules = (): OptionRules<WebhookCloseOptions> => ({ timeoutMs: optional(nonNegativeMilliseconds) })

const failedRules = (): OptionRules<WebhookFailedOptions> => ({
  olderThanMs: optional(within('milliseconds', 0, Number.MAX_SAFE_INTEGER)),
})

const replayRules = (): OptionRules<WebhookReplayOptions> => ({ signal: optional(mustBeSignal) })
