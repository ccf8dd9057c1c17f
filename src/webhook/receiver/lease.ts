import { LeaseError } from '../errors.ts'
import { type ClaimedDelivery, extendLease, noAnswer } from './store-calls.ts'
import { startTimer } from './timers.ts'

/** How long a handler may run. */
export interface RunLimit {
  /** When the handler must stop, as a time of `performance.now()`. The lease is not extended after that. */
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
export class Lease {
  readonly #claim: ClaimedDelivery
  readonly #limit: RunLimit
  readonly #controller = new AbortController()
  /** A time of `performance.now()`, like all times in this class. */
  #expiresAt: number
  #extendAt: number
  /** When the pending extension was sent; `undefined` if none is pending. */
  #unansweredSince: number | undefined
  #cancelTimer: () => void = () => {}
  #abortReason: LeaseError | undefined
  #ended = false

  constructor(claim: ClaimedDelivery, limit: RunLimit) {
    this.#claim = claim
    this.#limit = limit
    this.#expiresAt = claim.claimedAt + claim.leaseMs
    this.#extendAt = claim.claimedAt + claim.leaseMs / 3
    this.#startTimer()
  }

  /** Fires when the handler must stop. Never fires after `end()`. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Why the handler had to stop, or `undefined`. */
  get abortReason(): LeaseError | undefined {
    return this.#abortReason
  }

  /** Stops extending, because the handler has ended. */
  end(): void {
    this.#ended = true
    this.#cancelTimer()
  }

  /** Stops extending, and aborts the signal. Does nothing after `end()`. */
  abort(reason: LeaseError): void {
    if (this.#ended) return
    this.end()
    this.#abortReason = reason
    this.#claim.onError(reason, reason.code === 'lease_lost' ? 'extend' : 'handle')
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
      this.abort(
        new LeaseError(
          'run_time_exceeded',
          `${this.#limit.message} The claim ends when the handler ends or the lease expires.`,
        ),
      )
    } else if (now >= this.#expiresAt) {
      this.abort(new LeaseError('lease_lost', 'The delivery store did not extend the lease before it expired.'))
    } else {
      if (now >= this.#extendAt) void this.#extend(now)
      this.#startTimer()
    }
  }

  /** Tries once to extend the lease. Without an answer, the timer starts another attempt; a late answer still counts. */
  async #extend(sentAt: number): Promise<void> {
    const { leaseMs, onError } = this.#claim
    const attemptMs = leaseMs / 6
    if (this.#unansweredSince !== undefined) onError(noAnswer('extend', attemptMs), 'extend')
    this.#unansweredSince = sentAt
    this.#extendAt = sentAt + attemptMs
    let isExtended: boolean
    try {
      isExtended = await extendLease(this.#claim)
    } catch (error) {
      if (this.#ended || this.#unansweredSince !== sentAt) return
      onError(error, 'extend')
      this.#unansweredSince = undefined
      this.#extendAt = performance.now() + leaseMs / 10
      return this.#startTimer()
    }
    if (this.#ended) return
    if (!isExtended) {
      return this.abort(new LeaseError('lease_lost', 'The lease was lost: another receiver may have the delivery now.'))
    }
    this.#expiresAt = Math.max(this.#expiresAt, sentAt + leaseMs)
    if (this.#unansweredSince === sentAt) {
      this.#unansweredSince = undefined
      // Counted from the call, because a slow store answers late.
      this.#extendAt = sentAt + leaseMs / 3
    }
    this.#startTimer()
  }
}
