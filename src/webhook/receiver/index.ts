import { type OptionRules, optional, requireOptions, within } from '../../shared/options.ts'
import { MAX_TIMER_MS } from '../../shared/timers.ts'
import { type FastifyPlugin, fastifyAdapter } from './adapters/fastify.ts'
import { type FetchHandler, fetchAdapter } from './adapters/fetch.ts'
import { type LambdaHandler, lambdaAdapter } from './adapters/lambda.ts'
import { type NodeHandler, nodeAdapter } from './adapters/node.ts'
import { ReceiverCore } from './core.ts'
import type { WebhookReceiverOptions } from './options.ts'
import { receiverSettings } from './settings.ts'

/** Options of {@link WebhookReceiver.close}. */
export interface WebhookCloseOptions {
  /** How long running handlers may go on, in milliseconds. Default 10 000; 0 aborts them at once. */
  timeoutMs?: number | undefined
}

const closeRules = (): OptionRules<WebhookCloseOptions> => ({
  timeoutMs: optional(within('milliseconds', 0, MAX_TIMER_MS)),
})

/** A webhook endpoint for every runtime. The functions need no `this`: pass them on as they are. */
export interface WebhookReceiver {
  /**
   * Answers a `Request` with a `Response`: Hono, Next route handlers, Workers, Bun, Deno and whatever speaks fetch.
   * On runtimes that stop when the answer is out (Workers, Vercel) pass their context as the second argument, so that a
   * handler that outlives `deadlineMs` can finish.
   *
   * @throws TypeError (as a rejection, and the only one) when the argument is no `Request`
   */
  readonly fetch: FetchHandler
  /**
   * Answers a request of node:http, Express or Nest. Takes the body from the stream, or as the Buffer or text that
   * `express.raw()`, `express.text()` or a functions framework left in `req.body` or `req.rawBody`.
   *
   * @throws TypeError (as a rejection, and the only one) when the arguments are not a request and its response
   */
  readonly node: NodeHandler
  /**
   * Answers an event of API Gateway (REST and HTTP APIs), of an application load balancer or of a function URL.
   *
   * It does not answer before the handler is through, whatever `deadlineMs` says: an environment that answered is
   * frozen, and the handler with it. If the gateway gives up first, the invocation goes on, and a later attempt finds
   * the message done. Pass the context on as well: the handler's signal then fires 2 s before the function's time is
   * up (of a time under 5 s, after 60 % of it). The claim is released when the handler ends, or lapses with its lease.
   *
   * @throws TypeError (as a rejection) when the event is none of an HTTP source
   */
  readonly lambda: LambdaHandler
  /**
   * A Fastify plugin that serves POST at its prefix: `app.register(receiver.fastify, { prefix: '/webhooks/campaign' })`.
   * It reads the body by itself, within its own scope: parsers of the application stay as they are, and need not know.
   */
  readonly fastify: FastifyPlugin
  /**
   * Ends it all: new messages are answered 503 and running handlers may finish. When `timeoutMs` is up, the signals of
   * those still running fire, and one second later what they still hold is released, so that the next attempt (at
   * another process) can be handled at once. Resolves then, two seconds after `timeoutMs` at the latest; never rejects.
   * A second call returns the same promise.
   *
   * @throws TypeError when an option is misspelt, or `timeoutMs` is no number
   * @throws RangeError when `timeoutMs` is negative or longer than a timer holds
   */
  close(options?: WebhookCloseOptions): Promise<void>
}

/**
 * A webhook endpoint: verifies each message, tells duplicates apart and calls your handler once for each.
 *
 * | outcome | answer |
 * |---|---|
 * | handled; a duplicate that is done already; `DiscardEvent` thrown | 200 |
 * | busy elsewhere; past `deadlineMs` (the work goes on); stopped by the signal; store or secret not available; closing | 503 and Retry-After |
 * | the handler threw (the claim is released first) | 500 |
 * | any fault of the signature, with one body for all | 401 |
 * | too large (counted while reading); not a POST; signed but malformed | 413; 405 and Allow; 400 |
 * | the body did not arrive by `deadlineMs`; the sender hung up | 408; 400 |
 * | the body was parsed or consumed before; `onError` is told by what | 500 |
 *
 * A message of a kind this package does not know is handed to `handle` like any other, as `kind: 'unknown'`.
 *
 * The promise: at least once while the service retries; never two handlers at once while the lease is held; exactly
 * once only with `runOnce` of the PostgreSQL store. When the handler succeeded but the store cannot record it (five
 * attempts, each with a bound, while the lease holds), the answer is 200 all the same, and `onError` is told: another
 * attempt could only do the work again. The sender waits for the first of them, two seconds at most. The signature holds no time, so what `retainMs` remembers is the only defence against replays.
 *
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
 *
 * Nothing is shared between two receivers but the store they are given.
 *
 * @throws TypeError when an option is missing, misspelt or of the wrong type, or a secret is unusable
 * @throws RangeError when a number is out of its range, or `maxRunMs + leaseMs` is over 295 000
 *
 * Interface: [Signature](../../../docs/the-service.md#signature),
 * [Delivery and retries](../../../docs/the-service.md#delivery-and-retries). Assumed: that any answer but a 2xx, or none
 * in time, counts as "unavailable" and is retried, and that the pauses are counted from one attempt to the next.
 */
export function createWebhookReceiver(options: WebhookReceiverOptions): WebhookReceiver {
  const core = new ReceiverCore(receiverSettings(options))
  return {
    fetch: fetchAdapter(core),
    node: nodeAdapter(core),
    lambda: lambdaAdapter(core),
    fastify: fastifyAdapter(core),
    close(closeOptions = {}) {
      requireOptions('close', closeOptions, closeRules())
      return core.close(closeOptions.timeoutMs ?? 10_000)
    },
  }
}
