import { nonNegativeMilliseconds, type OptionRules, optional, readOptions } from '../../shared/options.ts'
import { type FastifyPlugin, fastifyAdapter } from './adapters/fastify.ts'
import { type FetchHandler, fetchAdapter } from './adapters/fetch.ts'
import { type LambdaHandler, lambdaAdapter } from './adapters/lambda.ts'
import { type NodeHandler, nodeAdapter } from './adapters/node.ts'
import { ReceiverCore } from './receiver-core.ts'
import { receiverSettings } from './receiver-settings.ts'
import type { WebhookReceiverOptions } from './webhook-receiver-options.ts'

/** Options of {@link WebhookReceiver.close}. */
export interface WebhookCloseOptions {
  /**
   * How long running handlers may go on, in milliseconds; 0 aborts them at once.
   *
   * @defaultValue 10 000
   */
  timeoutMs?: number | undefined
}

const closeRules = (): OptionRules<WebhookCloseOptions> => ({ timeoutMs: optional(nonNegativeMilliseconds) })

/** A webhook endpoint for every runtime. The functions need no `this`: pass them on as they are. */
export interface WebhookReceiver {
  /**
   * Answers a `Request` with a `Response`: for Hono, Next route handlers, Workers, Bun and Deno. On runtimes that stop
   * after the answer (Workers, Vercel) pass their context as the second argument, so that a handler that runs longer than
   * `deadlineMs` can finish.
   *
   * @throws TypeError (as a rejection) when the argument is no `Request`
   */
  readonly fetch: FetchHandler
  /**
   * Answers a request of node:http, Express or Nest. Reads the body from the stream, or takes the Buffer or text that
   * `express.raw()`, `express.text()` or a functions framework left in `req.body` or `req.rawBody`.
   *
   * @throws TypeError (as a rejection) when the arguments are not a request and its response
   */
  readonly node: NodeHandler
  /**
   * Answers an event of API Gateway (REST and HTTP APIs), of an application load balancer or of a function URL.
   *
   * Answers when the handler has ended, whatever `deadlineMs` says: after the answer, Lambda freezes the function and the
   * handler with it. If the gateway times out first, the invocation goes on, and a later attempt finds the message done.
   * Pass the context too: the handler's signal then fires 2 s before the function times out (after 60 % of a time limit
   * under 5 s). The claim is released when the handler ends, or lapses with its lease.
   *
   * @throws TypeError (as a rejection) when the event is not an HTTP event
   */
  readonly lambda: LambdaHandler
  /**
   * A Fastify plugin that serves POST at its prefix: `app.register(receiver.fastify, { prefix: '/webhooks/campaign' })`.
   * It reads the body in its own scope, so the parsers of the application do not matter.
   */
  readonly fastify: FastifyPlugin
  /**
   * Closes the receiver: new messages are answered with 503, and running handlers may finish. After `timeoutMs` the signals
   * of those still running fire; one second later their claims are released, so that another process can handle the next
   * attempt at once. Resolves two seconds after `timeoutMs` at the latest, and never rejects. A second call returns the
   * same promise.
   *
   * @throws TypeError when an option is misspelt, or `timeoutMs` is not a number
   * @throws RangeError when `timeoutMs` is negative or longer than a timer holds
   */
  close(options?: WebhookCloseOptions): Promise<void>
}

/**
 * Creates a webhook endpoint: verifies each message, recognises duplicates and calls your handler once for each message.
 *
 * | outcome | answer |
 * |---|---|
 * | handled; a duplicate that is done; `DiscardEvent` thrown | 200 |
 * | busy elsewhere; past `deadlineMs` (the handler goes on); stopped by the signal; store or secret unavailable; closing | 503 and Retry-After |
 * | the handler threw (the claim is released first) | 500 |
 * | any fault of the signature, always with the same body | 401 |
 * | too large (counted while reading); not a POST; signed but malformed | 413; 405 and Allow; 400 |
 * | the body did not arrive by `deadlineMs`; the sender hung up | 408; 400 |
 * | the body was parsed or consumed before; `onError` receives the cause | 500 |
 *
 * A message of a kind this package does not know is handed to `handle` like any other, as `kind: 'unknown'`.
 *
 * Every message is handled at least once while the service retries; never by two handlers at once while the lease is
 * held; exactly once only with `runOnce` of the PostgreSQL store. When the handler has succeeded but the store cannot
 * record it, the answer is still 200, because a retry would do the work again; `onError` receives the failure. The store is
 * asked up to five times, and the sender waits two seconds at most. The signature holds no time, so what `retainMs`
 * remembers is the only defence against replays.
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
 * Two receivers share nothing but their store.
 *
 * @throws TypeError when an option is missing, misspelt or of the wrong type, or a secret is unusable
 * @throws RangeError when a number is out of its range, or `maxRunMs + leaseMs` is over 295 000
 *
 * Interface: [Signature](/the-service#signature),
 * [Delivery and retries](/the-service#delivery-and-retries). Assumed: any answer but a 2xx, or none in
 * time, counts as "unavailable" and is retried; the waits are counted from one attempt to the next.
 */
export function createWebhookReceiver(options: WebhookReceiverOptions): WebhookReceiver {
  const core = new ReceiverCore(receiverSettings(options))
  return {
    fetch: fetchAdapter(core),
    node: nodeAdapter(core),
    lambda: lambdaAdapter(core),
    fastify: fastifyAdapter(core),
    close(closeOptions = {}) {
      const { timeoutMs = 10_000 } = readOptions('close', closeOptions, closeRules())
      return core.close(timeoutMs)
    },
  }
}
