import { type ClaimedDelivery, extendLease, noAnswer } from './claim.ts'
import { LeaseError } from './handler-errors.ts'
import { monotonicNow, startTimer } from './timers.ts'

/** How long a handler may run. */
export interface RunLimit {
  /** When the handler must stop, on the monotonic clock. The lease is not extended after that. */
  readonly until: number
  /** The message of the error: which limit it was. */
  readonly message: string
}

const AFTER_LIMIT = 'Its claim is released when it ends, or lapses with its lease.'

/**
 * Keeps a claim while the handler runs: extends it three times per lease, and aborts `signal` when it is lost.
 *
 * The lease is counted from just before each call to the store, so it ends here no later than in the store. The signal
 * therefore fires before another receiver can take over the delivery.
 */
export class Lease {
  readonly #claim: ClaimedDelivery
  readonly #limit: RunLimit
  #controller: AbortController | undefined
  /** All on the monotonic clock. */
  #expiresAt: number
  #extendAt: number
  /** When the last extension was sent, while it has no answer. */
  #unansweredSince: number | undefined
  #cancelTimer: () => void = () => {}
  #lost: LeaseError | undefined
  #ended = false

  constructor(claim: ClaimedDelivery, limit: RunLimit) {
    this.#claim = claim
    this.#limit = limit
    this.#expiresAt = claim.claimedAt + claim.leaseMs
    this.#extendAt = claim.claimedAt + claim.leaseMs / 3
  }

  /** Starts to extend the lease. A handler that ends synchronously needs no timer. */
  hold(): void {
    const next = Math.min(this.#limit.until, this.#expiresAt, this.#extendAt)
    this.#cancelTimer()
    this.#cancelTimer = startTimer(next - monotonicNow(), () => this.#wake())
  }

  /** Fires when the claim is no longer held. Never fires after `end()`. */
  get signal(): AbortSignal {
    // Created on demand: few handlers use it, and creating one takes as long as verifying a message.
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#lost !== undefined) this.#controller.abort(this.#lost)
    }
    return this.#controller.signal
  }

  /** Why the handler had to stop, if it had to. */
  get lost(): LeaseError | undefined {
    return this.#lost
  }

  /** Stops extending, without aborting: the handler has ended. */
  end(): void {
    this.#ended = true
    this.#cancelTimer()
  }

  /** Stops extending, and aborts the signal. Does nothing after `end()`. */
  abort(reason: LeaseError): void {
    if (this.#ended) return
    this.end()
    this.#lost = reason
    this.#claim.onError(reason, reason.code === 'lease_lost' ? 'extend' : 'handle')
    this.#controller?.abort(reason)
  }

  #wake(): void {
    const now = monotonicNow()
    // The order matters: after a blocked event loop, several of these times are past.
    if (now >= this.#limit.until) {
      this.abort(new LeaseError('run_time_exceeded', `${this.#limit.message} ${AFTER_LIMIT}`))
    } else if (now >= this.#expiresAt) {
      const message = 'The delivery store did not extend the lease of this delivery before it ran out.'
      this.abort(new LeaseError('lease_lost', message))
    } else {
      if (now >= this.#extendAt) void this.#extend(now)
      this.hold()
    }
  }

  /** Extends once. An attempt that hangs is followed by another one, but its answer counts whenever it comes. */
  async #extend(sentAt: number): Promise<void> {
    const { leaseMs, onError } = this.#claim
    const attemptMs = leaseMs / 6
    if (this.#unansweredSince !== undefined) onError(noAnswer('extend', attemptMs), 'extend')
    this.#unansweredSince = sentAt
    this.#extendAt = sentAt + attemptMs
    let isHeld: boolean
    try {
      isHeld = await extendLease(this.#claim)
    } catch (error) {
      if (this.#ended || this.#unansweredSince !== sentAt) return
      onError(error, 'extend')
      this.#unansweredSince = undefined
      this.#extendAt = monotonicNow() + leaseMs / 10
      return this.hold()
    }
    if (this.#ended) return
    if (!isHeld) {
      const message = 'The lease of this delivery was lost: another receiver may hold it now.'
      return this.abort(new LeaseError('lease_lost', message))
    }
    this.#expiresAt = Math.max(this.#expiresAt, sentAt + leaseMs)
    if (this.#unansweredSince === sentAt) {
      this.#unansweredSince = undefined
      // Counted from the call. Counted from the answer of a slow store, the next extension would come too late.
      this.#extendAt = sentAt + leaseMs / 3
    }
    this.hold()
  }
}
