import type { Finding } from '../diagnose/finding.ts'
import type { WebhookEvent } from '../event/types.ts'
import type { DeliveryStore } from '../stores/store.ts'
import type { WebhookSecret } from '../verify/secret.ts'
import type { WebhookRejectionReason } from './webhook-answer.ts'

/** The second argument of a webhook handler. */
export interface WebhookHandlerContext {
  /**
   * Fires when the lease of the delivery was lost, the handler's time was up, or the receiver closed. The `reason` is a
   * `LeaseError`. From then on the message may be handled elsewhere: pass the signal to everything that can be cancelled.
   * Does not fire when the sender hangs up or `deadlineMs` passes.
   */
  signal: AbortSignal
  /** The body exactly as it was signed. */
  rawBody: Uint8Array
  /**
   * The key of this delivery in the store: endpoint and id as one string. The same for every attempt: use it as the
   * idempotency key of your own writes, and as the key of `runOnce`.
   */
  key: string
  /** The index of the secret that matched, 0 when there is one. Shows when an old secret is no longer used. */
  secretIndex: number
}

/** See {@link WebhookReceiverOptions.handle}. */
export type WebhookHandler = (event: WebhookEvent, context: WebhookHandlerContext) => unknown

/** A request that was not answered with 200. Holds nothing secret. */
export interface WebhookRejection {
  reason: WebhookRejectionReason
  /** The HTTP status of the answer. */
  status: number
  /** The `endpoint` of the receiver. */
  endpoint: string
  /** The id of the message. Absent unless the message is signed and well-formed. */
  id?: string
  /**
   * Finds out why a signature was refused or a body was not raw, as `diagnoseWebhook` does. Empty for every other reason.
   * For development: it hashes the body many times, and the rejection keeps the body in memory. Where the header alone
   * was refused, the body was not read, and only the header is diagnosed. Not enumerable, so that the rejection can be
   * logged, compared and cloned.
   */
  diagnose(): Finding[]
}

/**
 * How a message ended. `handled`, `discarded` and `duplicate` are done. After `failed` (the handler threw) and
 * `interrupted` (it stopped because its signal fired) the service retries.
 */
export type WebhookHandledOutcome = 'handled' | 'discarded' | 'duplicate' | 'failed' | 'interrupted'

/** The argument of {@link WebhookReceiverOptions.onHandled}. Holds nothing secret. */
export interface WebhookHandled {
  /** The id of the message. */
  id: string
  /** The kind of the event. */
  kind: WebhookEvent['kind']
  /** The `endpoint` of the receiver. */
  endpoint: string
  outcome: WebhookHandledOutcome
  /** Milliseconds from the arrival of the request to the start of the handler: the body, the secret and the store. */
  waitedMs: number
  /** How many milliseconds the handler ran; 0 for a duplicate. */
  ranMs: number
}

/**
 * Where an error came from:
 *
 * - `body`: something parsed or consumed the body before the receiver (a `WebhookError` that names it);
 * - `secret`: the source of the secret failed, or returned an unusable one;
 * - `claim`, `extend`, `complete`, `release`: that call of the store failed, or had no answer in time. Also `extend` when
 *   the lease was lost while the handler was running, and `complete` when the delivery had been taken over (a
 *   `LeaseError` each);
 * - `handle`: the handler threw, or its signal fired because its time was up or the receiver closed (a `LeaseError`);
 * - `hook`: `onReject` or `onHandled` threw;
 * - `receiver`: a bug of this package, or a runtime whose `waitUntil` threw.
 */
export type WebhookErrorStage =
  | 'body'
  | 'secret'
  | 'claim'
  | 'extend'
  | 'handle'
  | 'complete'
  | 'release'
  | 'hook'
  | 'receiver'

/** The second argument of `onError`. Holds nothing secret. */
export interface WebhookErrorContext {
  stage: WebhookErrorStage
  /** The `endpoint` of the receiver. */
  endpoint: string
  /** The id of the message. Absent unless the message is signed and well-formed. */
  id?: string
}

/** Options of `createWebhookReceiver`. Times are in milliseconds, sizes in bytes. */
export interface WebhookReceiverOptions {
  /**
   * Your own name of the endpoint: the same in every process that serves it, and different for every endpoint.
   * Deliveries are remembered by `endpoint` and message id, because several endpoints may get the same message.
   */
  endpoint: string
  /**
   * The secret of the endpoint, a list of one to five while you replace it, or a function that returns either (or a
   * promise of it). The function is called for every message.
   */
  secret: WebhookSecret | (() => WebhookSecret | PromiseLike<WebhookSecret>)
  /**
   * Called once for each message, also of `kind: 'unknown'`. When it returns (or its promise resolves) the message is done
   * and never handled again. When it throws, the service retries; when it throws `DiscardEvent`, the message is done.
   */
  handle: WebhookHandler
  /**
   * Where deliveries are remembered. `memoryStore()` is enough for one process.
   *
   * @defaultValue `memoryStore()`
   */
  store?: DeliveryStore | undefined
  /**
   * The longest accepted body in bytes, from 1. The service's own limit is not known.
   *
   * @defaultValue 262 144 (256 KiB)
   */
  maxBodyBytes?: number | undefined
  /**
   * How long a sender waits for the answer at most, in milliseconds; above 0 and at most 395 000, when the last retry
   * comes. A handler still running then goes on; the sender gets 503, and a later attempt finds the message done. How long
   * the service itself waits is not known.
   *
   * @defaultValue 10 000
   */
  deadlineMs?: number | undefined
  /**
   * How long a claim outlives a dead process, and how long the store may be unreachable, in milliseconds; above 0.
   *
   * @defaultValue 30 000
   */
  leaseMs?: number | undefined
  /**
   * How long a handler may run, in milliseconds from the arrival of the request. Then its signal fires; the claim is
   * released when the handler ends, or lapses with its lease. At most 295 000 together with `leaseMs`: the last retry comes
   * 300 s after the one before, and must not meet the claim of a dead process.
   *
   * @defaultValue 240 000
   */
  maxRunMs?: number | undefined
  /**
   * How long a handled message is remembered, in milliseconds; at least 395 000, in which the retries come. The only
   * defence against replays.
   *
   * @defaultValue 604 800 000 (7 days)
   */
  retainMs?: number | undefined
  /**
   * Called for every request that is not answered with 200. Its errors go to `onError`. Without it: `console.warn`, at most
   * once a minute for each reason, unless `onError` was called with the cause.
   */
  onReject?: ((rejection: WebhookRejection) => unknown) | undefined
  /**
   * Called for every failure on this side; an error of your handler or store arrives as it was thrown. Its own errors are
   * dropped. Without it: `console.warn` with the error, at most once a minute for each stage.
   */
  onError?: ((error: unknown, context: WebhookErrorContext) => unknown) | undefined
  /**
   * Called when a handler has ended, and for every duplicate. For metrics. Its errors go to `onError`.
   */
  onHandled?: ((handled: WebhookHandled) => unknown) | undefined
}
