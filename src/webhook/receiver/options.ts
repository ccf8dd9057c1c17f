import type { Finding } from '../diagnose/finding.ts'
import type { WebhookEvent } from '../event/types.ts'
import type { DeliveryStore } from '../stores/store.ts'
import type { WebhookSecret } from '../verify/secret.ts'
import type { WebhookRejectionReason } from './answer.ts'

/** What a webhook handler gets besides the event. */
export interface WebhookHandlerContext {
  /**
   * Fires when the delivery is no longer ours: its lease was lost, the handler's time was up, or the receiver
   * closed. The `reason` is a `LeaseError`. From then on another attempt may be handled elsewhere, so pass it on to
   * whatever can be cancelled. It does not fire when the sender hangs up or `deadlineMs` passes.
   */
  signal: AbortSignal
  /** The body exactly as it was signed. */
  rawBody: Uint8Array
  /**
   * The key of this delivery in the store: endpoint and id as one string. The same for every attempt, so it serves as
   * an idempotency key for your own writes, and as the key of `runOnce`.
   */
  key: string
  /** Which secret matched: its index in the list, 0 when there is one. Tells when an old secret is out of use. */
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
  /** The id of the message. Absent until its signature and its form were found right. */
  id?: string
  /**
   * Finds out why a signature was refused, as `diagnoseWebhook` does. Empty for every other reason. For development: it
   * hashes the body some hundred times, and as long as you hold the rejection, it holds the body. Where the header
   * alone was reason enough, the body was not read, and only the header is looked at. Not enumerable: it takes no part in logging,
   * comparing or cloning the rejection.
   */
  diagnose(): Finding[]
}

/**
 * How a message ended, for those who watch their receivers: `handled` and `discarded` are done, and so was a
 * `duplicate`; after `failed` (the handler threw) and `interrupted` (it gave up when its signal fired) it is asked for again.
 */
export type WebhookHandledOutcome = 'handled' | 'discarded' | 'duplicate' | 'failed' | 'interrupted'

/** What {@link WebhookReceiverOptions.onHandled} is told. Holds nothing secret. */
export interface WebhookHandled {
  /** The id of the message. */
  id: string
  /** The kind of the event. */
  kind: WebhookEvent['kind']
  /** The `endpoint` of the receiver. */
  endpoint: string
  outcome: WebhookHandledOutcome
  /**
   * Which attempt this was of those that reached this receiver since it was created. The service may have made more,
   * at other processes. Absent when more than 10 000 messages wait to be handled.
   */
  attempts?: number
  /** From the arrival of the request to the start of the handler, in milliseconds: the body, the secret and the store. */
  waitedMs: number
  /** How long the handler ran, in milliseconds; 0 for a duplicate. */
  ranMs: number
}

/**
 * Where an error came from:
 *
 * - `body`: something in front of the receiver parsed or consumed the body (a `WebhookError` that names it);
 * - `secret`: the source of the secret failed, or what it gave is unusable;
 * - `claim`, `extend`, `complete`, `release`: that call of the store failed, or had no answer in time. `extend` also
 *   when the lease was lost under a running handler, and `complete` when the delivery had been taken over (a
 *   `LeaseError` each);
 * - `handle`: the handler threw, or its signal fired because its time was up or the receiver closed (a `LeaseError`);
 * - `hook`: `onReject` or `onHandled` threw;
 * - `receiver`: a fault of this package, or of a runtime whose `waitUntil` threw.
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

/** What `onError` is told besides the error. Holds nothing secret. */
export interface WebhookErrorContext {
  stage: WebhookErrorStage
  /** The `endpoint` of the receiver. */
  endpoint: string
  /** The id of the message. Absent until its signature and its form were found right. */
  id?: string
}

/** Options of `createWebhookReceiver`. Times are in milliseconds, sizes in bytes. */
export interface WebhookReceiverOptions {
  /**
   * A name of your own for the endpoint, the same in every process that serves it and different for every endpoint:
   * deliveries are remembered as `endpoint` and message id, because several endpoints rightly get the same message.
   */
  endpoint: string
  /**
   * The secret of the endpoint, a list of one to five while rotating, or a function that gives either (also as a
   * promise); it is called for every message.
   */
  secret: WebhookSecret | (() => WebhookSecret | PromiseLike<WebhookSecret>)
  /**
   * Called once for each message, also for those of `kind: 'unknown'`. When it returns (or its promise resolves) the
   * message is done and never handled again. When it throws, the service is asked to try again; when it throws
   * `DiscardEvent`, the message is done all the same.
   */
  handle: WebhookHandler
  /** Where deliveries are remembered. Default `memoryStore()`, which is enough for one process. */
  store?: DeliveryStore | undefined
  /** The longest body that is accepted. Default 262 144 (256 KiB). The service's own limit is not known. */
  maxBodyBytes?: number | undefined
  /**
   * How long a sender waits at most. Default 10 000, at most 395 000: the last retry comes that long after the first
   * attempt. A handler still running then goes on; the sender gets 503 and finds the message done at a later attempt.
   * How long the service itself waits is not known.
   */
  deadlineMs?: number | undefined
  /** How long a claim outlives a process that died, and how long the store may be unreachable. Default 30 000. */
  leaseMs?: number | undefined
  /**
   * How long a handler may run at most, counted from the arrival of the request. Default 240 000. Then its signal fires;
   * the claim is released when it ends, or lapses with its lease. With `leaseMs` at most 295 000 together: the last retry comes 300 s after the one
   * before, and must not meet the claim of a handler that died.
   */
  maxRunMs?: number | undefined
  /**
   * How long a handled message is remembered. Default 604 800 000 (7 days), at least 395 000, in which the retries
   * come. The only defence against replays.
   */
  retainMs?: number | undefined
  /**
   * Told of every request that is not answered with 200. What it throws goes to `onError`. Default: `console.warn`, at
   * most once a minute for each reason, unless `onError` was told of the cause.
   */
  onReject?: ((rejection: WebhookRejection) => unknown) | undefined
  /**
   * Told of everything that went wrong on this side; an error of your handler or store arrives as it was thrown. What it
   * throws is dropped. Default: `console.warn` with the error, at most once a minute for each stage.
   */
  onError?: ((error: unknown, context: WebhookErrorContext) => unknown) | undefined
  /**
   * Told when a handler came to an end, and of every duplicate: how long it took, and how it ended. For metrics; what it
   * throws goes to `onError`.
   */
  onHandled?: ((handled: WebhookHandled) => unknown) | undefined
}
