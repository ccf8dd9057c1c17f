import { DiscardEvent, LeaseError } from '../../errors/webhook-errors.ts'
import { startTimer } from '../../shared/timers.ts'
import {
  type ClaimedDelivery,
  completeDelivery,
  interruptDelivery,
  noResponse,
  releaseDelivery,
  reportError,
  requireBoolean,
  type StoreCall,
} from './delivery.ts'
import type { WebhookHandledOutcome } from './options.ts'

/** How a handler ended. `interrupted`: it may have stopped early, because its signal had fired. */
type RunOutcome = Exclude<WebhookHandledOutcome, 'duplicate'>

/**
 * One run of the handler for a claimed delivery. After a success, completes the delivery, which records it as done.
 * Otherwise releases the delivery, so that another attempt can claim it.
 */
export class HandlerRun {
  /** When the handler has ended, resolves to the store call that ends the claim. Never rejects. */
  readonly ended: Promise<StoreCall>
  readonly #delivery: ClaimedDelivery
  readonly #lease: Lease
  readonly #abandoned = Promise.withResolvers<void>()
  #outcome: RunOutcome | undefined
  /** What the handler threw, or the reason of its signal. */
  #error: unknown

  constructor(delivery: ClaimedDelivery, limit: RunLimit) {
    this.#delivery = delivery
    this.#lease = new Lease(delivery, limit)
    this.ended = this.#run()
  }

  /** How the handler ended, or `undefined` while it runs. The store may not have recorded it yet. */
  get outcome(): RunOutcome | undefined {
    return this.#outcome
  }

  /** Resolves after the first attempt of `abandon()` to release the claim. */
  get abandoned(): Promise<void> {
    return this.#abandoned.promise
  }

  /** Aborts the signal of a handler that is still running. `onError` receives a `reason` that is a `LeaseError`. */
  abort(reason: unknown): void {
    this.#lease.abort(reason)
  }

  /**
   * Releases the claim of a handler that is still running, because the process is about to exit. The claim of a handler that
   * has succeeded is kept, so that no other receiver handles the message before the lease expires.
   */
  async abandon(): Promise<void> {
    if (this.#outcome !== undefined) return this.#abandoned.resolve()
    const { firstAttempt, settled } = interruptDelivery(this.#delivery, this.#lease.signal.reason)
    void firstAttempt.then(this.#abandoned.resolve)
    await settled
  }

  async #run(): Promise<StoreCall> {
    const { reports, message, arrivedAt } = this.#delivery
    const startedAt = performance.now()
    const outcome = await this.#handle()
    this.#lease.end()
    this.#outcome = outcome
    reports.handled(message.event, outcome, startedAt - arrivedAt, performance.now() - startedAt)
    if (outcome === 'handled' || outcome === 'discarded') return completeDelivery(this.#delivery)
    const reason = outcome === 'failed' ? 'handler_failed' : 'interrupted'
    return releaseDelivery(this.#delivery, reason, this.#error)
  }

  async #handle(): Promise<RunOutcome> {
    const { key, message, settings, isReplay } = this.#delivery
    const { event, rawBody, secretIndex } = message
    const { handle } = settings
    const lease = this.#lease
    let hasReadSignal = false
    try {
      await handle(event, {
        // A getter, because creating a signal takes as long as verifying a message, and few handlers use it.
        get signal() {
          hasReadSignal = true
          return lease.signal
        },
        rawBody,
        key,
        secretIndex,
        isReplay,
      })
      // Nobody can tell a handler that returned early from a finished one. A second run is safer than lost work.
      if (!hasReadSignal || !lease.signal.aborted) return 'handled'
      this.#error = lease.signal.reason
      return 'interrupted'
    } catch (error) {
      if (error instanceof DiscardEvent) return 'discarded'
      this.#error = error
      const { aborted, reason } = lease.signal
      // The lease has reported a `LeaseError` already, and the abort of a replay is not an error of the handler.
      if (!aborted || error !== reason) reportError(this.#delivery, error, 'handle')
      return aborted ? 'interrupted' : 'failed'
    }
  }
}

/** When a handler must stop. */
interface RunLimit {
  /** A time of `performance.now()`. The lease is not extended after that. */
  readonly until: number
  /** The message of the error when the limit is reached. */
  readonly message: string
}

/**
 * Extends a lease three times per `leaseMs` while the handler runs, and aborts `signal` when the handler must stop.
 *
 * Counts `leaseMs` from just before each call of the store. The store counts from a later time. The signal therefore fires
 * before another receiver can claim the delivery.
 */
class Lease {
  readonly #delivery: ClaimedDelivery
  readonly #limit: RunLimit
  readonly #controller = new AbortController()
  /** The delay between two extensions. */
  readonly #intervalMs: number
  /** The delay after which an extension without a response is sent again. */
  readonly #responseMs: number
  /** The delay after which a failed extension is sent again. */
  readonly #retryMs: number
  /** A time of `performance.now()`, like all times in this class. */
  #expiresAt: number
  #extendAt: number
  /** When the pending extension was sent; `undefined` if none is pending. */
  #pendingSince: number | undefined
  #cancelTimer: () => void = () => {}
  #ended = false

  constructor(delivery: ClaimedDelivery, limit: RunLimit) {
    const { claimedAt } = delivery
    const { leaseMs } = delivery.settings
    this.#delivery = delivery
    this.#limit = limit
    this.#intervalMs = leaseMs / 3
    this.#responseMs = leaseMs / 6
    this.#retryMs = leaseMs / 10
    this.#expiresAt = claimedAt + leaseMs
    this.#extendAt = claimedAt + this.#intervalMs
    this.#startTimer()
  }

  /** Fires when the handler must stop. Never fires after `end()`. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Stops extending, because the handler has ended. */
  end(): void {
    this.#ended = true
    this.#cancelTimer()
  }

  /** Stops extending, and aborts the signal. Does nothing after `end()`. */
  abort(reason: unknown): void {
    if (this.#ended) return
    this.end()
    if (reason instanceof LeaseError) {
      reportError(this.#delivery, reason, reason.code === 'lease_lost' ? 'extend' : 'handle')
    }
    this.#controller.abort(reason)
  }

  #startTimer(): void {
    const next = Math.min(this.#limit.until, this.#expiresAt, this.#extendAt)
    this.#cancelTimer()
    this.#cancelTimer = startTimer(next - performance.now(), () => this.#onTimer())
  }

  #onTimer(): void {
    const now = performance.now()
    // Check in this order: after a blocked event loop, several of these times may have passed.
    if (now >= this.#limit.until) {
      const message = `${this.#limit.message}; the claim ends when the handler ends or the lease expires`
      this.abort(new LeaseError('run_time_exceeded', message))
    } else if (now >= this.#expiresAt) {
      this.abort(new LeaseError('lease_lost', 'the delivery store did not extend the lease before it expired'))
    } else {
      if (now >= this.#extendAt) void this.#extend(now)
      this.#startTimer()
    }
  }

  /** Tries once to extend the lease. Without a response, the timer starts another attempt; a late response still counts. */
  async #extend(sentAt: number): Promise<void> {
    const delivery = this.#delivery
    const { store, leaseMs } = delivery.settings
    // The previous attempt got no response in time.
    if (this.#pendingSince !== undefined) reportError(delivery, noResponse('extend', this.#responseMs), 'extend')
    this.#pendingSince = sentAt
    this.#extendAt = sentAt + this.#responseMs
    let isExtended: boolean
    try {
      isExtended = requireBoolean('extend', await store.extend(delivery.key, delivery.token, leaseMs))
    } catch (error) {
      // The handler has ended, or a newer attempt has reported this one.
      if (this.#ended || this.#pendingSince !== sentAt) return
      reportError(delivery, error, 'extend')
      this.#pendingSince = undefined
      this.#extendAt = performance.now() + this.#retryMs
      return this.#startTimer()
    }
    if (this.#ended) return
    if (!isExtended) {
      return this.abort(new LeaseError('lease_lost', 'the lease was lost: another receiver may have the delivery now'))
    }
    this.#expiresAt = Math.max(this.#expiresAt, sentAt + leaseMs)
    if (this.#pendingSince === sentAt) {
      this.#pendingSince = undefined
      // Counted from the call, because a slow store responds late.
      this.#extendAt = sentAt + this.#intervalMs
    }
    this.#startTimer()
  }
}
