import {
  copyOfOptions,
  issuesAt,
  mustBeFunction,
  mustBeText,
  mustHaveMethods,
  nested,
  type OptionIssue,
  type OptionRule,
  type OptionRules,
  oneOf,
  optional,
  optionIssues,
  positive,
  refuseOptions,
  wholeNumber,
  withCopy,
  within,
} from '../../errors/option-checks.ts'
import { DELIVERY_SPAN_MS, LAST_DELIVERY_DELAY_MS, MAX_CLAIM_MS } from '../../shared/delivery-schedule.ts'
import type { Issue } from '../../shared/issue.ts'
import { isRecord, typeName } from '../../shared/type-checks.ts'
import type { Finding } from '../diagnose.ts'
import type { WebhookEvent } from '../event.ts'
import { secretIssue, type WebhookSecret } from '../signature.ts'
import { type DeliveryStore, mustKeepMessages } from '../stores/delivery-store.ts'
import { memoryStore } from '../stores/memory-store.ts'
import type { WebhookRejectionReason } from './responses.ts'

/** The second argument of a webhook handler. */
export interface WebhookHandlerContext {
  /**
   * Fires when the lease was lost, `maxRunMs` has passed, a Lambda invocation is about to end, or the receiver was closed.
   * The `reason` is a `LeaseError`. Another receiver may then handle the message, so pass the signal to everything that can be
   * cancelled. Does not fire when the sender disconnects or `deadlineMs` passes. During a replay, it also fires with the signal
   * of `replay`, and has that signal's reason.
   *
   * If a handler has read this property, and the signal has fired when the handler returns, the handler may have stopped early:
   * the outcome is `interrupted`, and the service retries. Code that destructures, copies or serializes the context also reads
   * the property.
   */
  signal: AbortSignal
  /** The signed bytes. */
  rawBody: Uint8Array
  /**
   * The key of this delivery in the store: endpoint and id as one string. It is the same for every attempt. Use it as the
   * idempotency key of your own writes, and as the key of `runOnce`.
   */
  key: string
  /**
   * The index of the secret that signed the message. While you replace a secret, it shows which secret is in use. During a
   * replay it is `null`: the signature was verified when the message arrived.
   */
  secretIndex: number | null
  /** Whether {@link WebhookReceiver.replay} has called the handler. */
  isReplay: boolean
}

/** See {@link WebhookReceiverOptions.handle}. */
export type WebhookHandler = (event: WebhookEvent, context: WebhookHandlerContext) => unknown

/** A request whose response was not 200. Contains no secret. */
export interface WebhookRejection {
  /** Why the request was refused. */
  reason: WebhookRejectionReason
  /** The HTTP status of the response. */
  status: number
  /** The `endpoint` of the receiver. */
  endpoint: string
  /** The id of a signed and well-formed message; otherwise absent. */
  id?: string
  /** The `issues` of the message; only with the reason `unexpected_shape`. */
  issues?: readonly Issue[]
  /**
   * Runs `diagnoseWebhook`, to find out why a signature was refused or a body was not raw. Returns an empty list for every
   * other reason. For development only: it hashes the body many times. A malformed header is refused before the body is
   * read, so only the header is diagnosed. Not enumerable, so that the rejection can be logged, compared and cloned.
   */
  diagnose(): Finding[]
}

/**
 * The outcome of a message. After `handled`, `discarded` and `duplicate`, the message is done. After `failed` and
 * `interrupted`, the service retries. `failed`: the handler threw. `interrupted`: the handler may have stopped early, because
 * the signal had fired when it threw, or when it returned after reading `signal`.
 */
export type WebhookHandledOutcome = 'handled' | 'discarded' | 'duplicate' | 'failed' | 'interrupted'

/** The argument of {@link WebhookReceiverOptions.onHandled}. Contains no secret. */
export interface WebhookHandled {
  /** The id of the message. */
  id: string
  /** The kind of the event. */
  kind: WebhookEvent['kind']
  /** The `endpoint` of the receiver. */
  endpoint: string
  /** The outcome of the message. */
  outcome: WebhookHandledOutcome
  /**
   * The time from the arrival of the request, or the start of the replay, to the handler's start, in milliseconds. For a
   * duplicate: to the response of the store.
   */
  waitedMs: number
  /** The running time of the handler in milliseconds; 0 for a duplicate. */
  ranMs: number
}

/**
 * The origin of an error:
 *
 * - `body`: the body was parsed or consumed before the receiver (a `WebhookError` with the likely cause);
 * - `secret`: the `secret` function failed, or returned an unusable secret;
 * - `message`: the message differs from its documented shape (a `WebhookShapeError`), and is handled all the same;
 * - `claim`, `extend`, `complete`, `release`: the call of the store failed or timed out;
 * - `extend` with a `LeaseError`: the lease was lost while the handler was running;
 * - `complete` with a `LeaseError`: the handler succeeded, but another receiver had taken the delivery over;
 * - `handle`: the handler threw, or its signal fired (a `LeaseError`);
 * - `hook`: `onReject` or `onHandled` threw;
 * - `receiver`: an unexpected error, for instance of `waitUntil`.
 */
export type WebhookErrorStage =
  | 'body'
  | 'secret'
  | 'message'
  | 'claim'
  | 'extend'
  | 'handle'
  | 'complete'
  | 'release'
  | 'hook'
  | 'receiver'

/** The second argument of `onError`. Contains no secret. */
export interface WebhookErrorContext {
  /** The origin of the error. */
  stage: WebhookErrorStage
  /** The `endpoint` of the receiver. */
  endpoint: string
  /** The id of a signed and well-formed message; otherwise absent. */
  id?: string
}

/** Options of `createWebhookReceiver`. Times are in milliseconds, sizes in bytes. */
export interface WebhookReceiverOptions {
  /**
   * Your name for the endpoint. Use the same name in every process that serves it, and another name for every other endpoint.
   * The name is part of each delivery's key, because several endpoints may get the same message.
   */
  endpoint: string
  /**
   * The endpoint's secret, or a list of one to five secrets while you replace it; or a function that returns the secret or
   * the list, or a promise of them. The function is called for every message.
   */
  secret: WebhookSecret | (() => WebhookSecret | PromiseLike<WebhookSecret>)
  /**
   * Called for each message until it is done, even for `kind: 'unknown'`. When it returns (or its promise resolves), the
   * message is done. When it throws, the service retries. When it throws `DiscardEvent`, the message is done. A handler that
   * reads `signal` may be `interrupted`: see {@link WebhookHandlerContext.signal}.
   */
  handle: WebhookHandler
  /**
   * Records the deliveries. The default, `memoryStore()`, forgets them at a restart. In production, use `sqliteStore` on one
   * machine, `postgresStore` or `redisStore` on several.
   *
   * @defaultValue `memoryStore()`
   */
  store?: DeliveryStore | undefined
  /**
   * Maximum size of a body in bytes, from 1. The limit of the service is not documented.
   *
   * @defaultValue 262 144 (256 KiB)
   */
  maxBodyBytes?: number | undefined
  /**
   * Time limit of the response, in milliseconds; above 0 and at most 395 000. If the handler is still running then, the
   * response is 503. The handler continues, and a later attempt finds the message done. The last retry comes at least
   * 395 000 ms after the first attempt. The timeout of the service is not documented.
   *
   * @defaultValue 10 000
   */
  deadlineMs?: number | undefined
  /**
   * The lease of a claim, in milliseconds; above 0. The lease is extended while the handler runs. The claim
   * expires if the process is killed, or if the store is unreachable for longer than the lease.
   *
   * @defaultValue 30 000
   */
  leaseMs?: number | undefined
  /**
   * Time limit of a handler, in milliseconds from the arrival of the request. Then the handler's signal fires, and the
   * lease is no longer extended. `maxRunMs + leaseMs` must be at most 295 000: the claim of a killed process must expire
   * before the last retry, which comes 300 s after the previous retry.
   *
   * @defaultValue 240 000
   */
  maxRunMs?: number | undefined
  /**
   * How long the store records a message as done, in milliseconds; at least 395 000, the sum of the delays before the retries.
   * Only this record prevents replay attacks.
   *
   * @defaultValue 604 800 000 (7 days)
   */
  retainMs?: number | undefined
  /**
   * How to handle a message of kind `unknown` that has `issues`: it lacks a required field, its `scope` or its
   * `event.type`. With `'handle'`, your handler receives it with `kind: 'unknown'`. With `'retry'`, the response is 500 and
   * the handler is not called. The service then retries, and finally records the message as undelivered.
   *
   * @defaultValue `'handle'`
   */
  unexpectedShape?: 'handle' | 'retry' | undefined
  /**
   * Whether the store keeps the bytes of each message until it is handled. Then {@link WebhookReceiver.failed} lists the messages
   * that failed, even after the last retry or a crash, and {@link WebhookReceiver.replay} handles them. `retainMs` is how long a
   * message is kept after its last failure, in milliseconds. Needs `sqliteStore`, `postgresStore`, or your own store with `failed`,
   * `take` and `forget`. The messages contain personal data.
   *
   * @defaultValue `false`; with `true`, `retainMs` is 2 592 000 000 (30 days)
   */
  keepFailed?: boolean | { retainMs?: number | undefined } | undefined
  /**
   * Called for every request whose response is not 200. Its errors go to `onError`.
   *
   * @defaultValue `console.warn`, at most once a minute for each reason; not for rejections that `onError` has reported
   */
  onReject?: ((rejection: WebhookRejection) => unknown) | undefined
  /**
   * Called for every failure in your handler, store or receiver, with the original error, and for every message with `issues`
   * that is handled. Errors of `onError` itself are ignored.
   *
   * @defaultValue `console.warn` with the error, at most once a minute for each stage and event type
   */
  onError?: ((error: unknown, context: WebhookErrorContext) => unknown) | undefined
  /** Called when a handler has ended, and for every duplicate; for metrics. Its errors go to `onError`. */
  onHandled?: ((handled: WebhookHandled) => unknown) | undefined
}

type Callbacks = 'onReject' | 'onError' | 'onHandled'

type Defaulted = Exclude<keyof WebhookReceiverOptions, Callbacks | 'keepFailed'>

/** The options with every default filled in. */
export type ReceiverSettings = { [Name in Defaulted]-?: Exclude<WebhookReceiverOptions[Name], undefined> } & Pick<
  WebhookReceiverOptions,
  Callbacks
> & {
    /** How long failed messages are kept, in milliseconds; `undefined` if they are not kept. */
    keepFailedMs: number | undefined
  }

const WEEK_MS = 604_800_000
const MONTH_MS = 2_592_000_000

const mustBeEndpoint: OptionRule = (value) => {
  const issue = mustBeText(value)
  return issue && `${issue}: your name for this endpoint (for instance its path)`
}

/**
 * `copyOfOptions` copies the bytes of a secret. Otherwise, when the caller wipes the original, the receiver would accept messages
 * that are signed with a secret of zeros.
 */
const mustBeSecret: OptionRule = (value) => {
  if (typeof value === 'function') return undefined
  if (value === undefined || value === null) {
    return 'is missing: pass a secret, a list of secrets, or a function that returns one (is the environment variable set?)'
  }
  return secretIssue(value)
}

const mustBeStore: OptionRule = (value) => {
  const issue = mustHaveMethods('claim', 'extend', 'complete', 'release')(value)
  return (
    issue &&
    `${issue}; pass sqliteStore(path), postgresStore(pool), redisStore(client), memoryStore() or your own DeliveryStore`
  )
}

function mustBeKeepFailed(): OptionRule {
  const rule = nested({ retainMs: optional(positive('milliseconds', Number.MAX_SAFE_INTEGER)) })
  return withCopy((value) => {
    if (typeof value === 'boolean') return undefined
    return isRecord(value) ? rule(value) : `must be true, false or an object, got ${typeName(value)}`
  }, rule.copy)
}

const rules = (): OptionRules<WebhookReceiverOptions> => ({
  endpoint: mustBeEndpoint,
  secret: mustBeSecret,
  handle: mustBeFunction,
  store: optional(mustBeStore),
  maxBodyBytes: optional(wholeNumber(1)),
  deadlineMs: optional(positive('milliseconds', DELIVERY_SPAN_MS)),
  leaseMs: optional(positive('milliseconds', MAX_CLAIM_MS)),
  maxRunMs: optional(positive('milliseconds', MAX_CLAIM_MS)),
  retainMs: optional(within('milliseconds', DELIVERY_SPAN_MS, Number.MAX_SAFE_INTEGER)),
  unexpectedShape: optional(oneOf('handle', 'retry')),
  keepFailed: optional(mustBeKeepFailed()),
  onReject: optional(mustBeFunction),
  onError: optional(mustBeFunction),
  onHandled: optional(mustBeFunction),
})

/**
 * Checks the options, and fills in the defaults.
 *
 * @throws ConfigurationError with all wrong options
 */
export function receiverSettings(given: WebhookReceiverOptions): ReceiverSettings {
  const options = copyOfOptions(given, rules())
  const { leaseMs = 30_000, maxRunMs = 240_000, keepFailed, store = memoryStore(), ...others } = options ?? {}
  refuseOptions('createWebhookReceiver', [
    ...optionIssues(options, rules()),
    ...claimIssues(leaseMs, maxRunMs),
    ...(keepFailed ? issuesAt('keepFailed', keepFailedIssue(store)) : []),
  ])
  return {
    ...others,
    store,
    maxBodyBytes: others.maxBodyBytes ?? 262_144,
    deadlineMs: others.deadlineMs ?? 10_000,
    leaseMs,
    maxRunMs,
    retainMs: others.retainMs ?? WEEK_MS,
    unexpectedShape: others.unexpectedShape ?? 'handle',
    keepFailedMs: keepFailed ? ((keepFailed === true ? undefined : keepFailed.retainMs) ?? MONTH_MS) : undefined,
  }
}

/** The issue of `keepFailed`. A value that is not a store has its own issue. */
function keepFailedIssue(store: unknown): string | undefined {
  const issue = mustBeStore(store) === undefined ? mustKeepMessages(store) : undefined
  return issue && `needs a store that keeps messages, and store ${issue}; pass sqliteStore(path) or postgresStore(pool)`
}

/** The claim of a killed process must expire before the last retry. */
function claimIssues(leaseMs: unknown, maxRunMs: unknown): OptionIssue[] {
  const areTimes = [leaseMs, maxRunMs].every((each) => typeof each === 'number' && each > 0 && each <= MAX_CLAIM_MS)
  const sum = Number(maxRunMs) + Number(leaseMs)
  if (!areTimes || sum <= MAX_CLAIM_MS) return []
  const message = `plus leaseMs must be at most ${MAX_CLAIM_MS}, got ${maxRunMs} + ${leaseMs} = ${sum}`
  const advice =
    `the last retry of the service comes ${LAST_DELIVERY_DELAY_MS / 1000} s after the previous retry, and fails while ` +
    'an earlier claim exists'
  return [{ path: ['maxRunMs'], message, advice }]
}
