import { CampaignError } from '../../shared/campaign-error.ts'
import type { HeldClaim } from './claim.ts'
import { noAnswer, requireBoolean } from './store-answers.ts'
import { monotonicNow, startTimer } from './timer.ts'

/**
 * Why a handler lost its delivery:
 *
 * - `lease_lost`: another receiver took it over, or the store could not be reached until the lease ran out;
 * - `run_time_exceeded`: the handler ran for `maxRunMs`, or for as long as its Lambda invocation allows;
 * - `receiver_closed`: `close()` was called and its limit passed.
 */
export type LeaseErrorCode = 'lease_lost' | 'run_time_exceeded' | 'receiver_closed'

/**
 * The `reason` of the signal a webhook handler gets, and what `onError` is told when it fires, or when a delivery was
 * taken over. From then on the same message may be handled elsewhere: stop, and write nothing more.
 */
export class LeaseError extends CampaignError {
  /** @internal */
  // Stryker disable next-line StringLiteral: it only has to be the same in every copy of the package
  static override readonly brand: string = 'LeaseError'

  declare readonly code: LeaseErrorCode

  /** @internal */
  constructor(code: LeaseErrorCode, message: string) {
    super(message, { code })
  }
}

/** How long a handler may run. */
export interface RunTerm {
  /** When the handler has to stop, on the monotonic clock. No extension is sent from then on. */
  readonly until: number
  /** What is said then: which limit it was. */
  readonly passed: string
}

const AFTER_THE_TERM = 'Its claim is released when it ends, or lapses with its lease.'

/**
 * Holds a claim for as long as the handler runs: extends it three times per lease, and aborts `signal` when it is lost.
 *
 * The end of the lease is counted here from before each call to the store was sent, so it never lies later than the
 * store's own: the signal fires before somebody else can take the delivery over.
 */
export class Lease {
  readonly #claim: HeldClaim
  readonly #term: RunTerm
  /** All on the monotonic clock. */
  #expiresAt: number
  #extendAt: number
  /** When the last attempt was sent, as long as it has no answer. */
  #unanswered: number | undefined
  #cancelTimer: () => void = () => {}
  #controller: AbortController | undefined
  #lost: LeaseError | undefined
  #over = false

  constructor(claim: HeldClaim, term: RunTerm) {
    this.#claim = claim
    this.#term = term
    this.#expiresAt = claim.claimedAt + claim.leaseMs
    this.#extendAt = claim.claimedAt + claim.leaseMs / 3
  }

  /** Begins to extend. Until then nothing happens: a handler that is through at once needs no timer. */
  hold(): void {
    const next = Math.min(this.#term.until, this.#expiresAt, this.#extendAt)
    this.#cancelTimer()
    this.#cancelTimer = startTimer(next - monotonicNow(), () => this.#wake())
  }

  /** Fires when the claim is no longer held. Never fires after `end()`. */
  get signal(): AbortSignal {
    // Few handlers ask for it, and making one takes as long as verifying a message.
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#lost !== undefined) this.#controller.abort(this.#lost)
    }
    return this.#controller.signal
  }

  /** Why the handler had to stop, if it had. */
  get lost(): LeaseError | undefined {
    return this.#lost
  }

  /** Stops extending, without aborting: the handler is through. */
  end(): void {
    this.#over = true
    this.#cancelTimer()
  }

  /** Stops extending and aborts the signal. Does nothing once the lease is over. */
  abort(reason: LeaseError): void {
    if (this.#over) return
    this.end()
    this.#lost = reason
    this.#claim.onError(reason, reason.code === 'lease_lost' ? 'extend' : 'handle')
    this.#controller?.abort(reason)
  }

  #wake(): void {
    const now = monotonicNow()
    // In this order: where the event loop was blocked, more than one of them is past.
    if (now >= this.#term.until) {
      this.abort(new LeaseError('run_time_exceeded', `${this.#term.passed} ${AFTER_THE_TERM}`))
    } else if (now >= this.#expiresAt) {
      this.abort(
        new LeaseError('lease_lost', 'The delivery store did not extend the lease of this delivery before it ran out.'),
      )
    } else {
      if (now >= this.#extendAt) void this.#extend(now)
      this.hold()
    }
  }

  /**
   * Asks the store once. An attempt that hangs must not cost the lease, so another one follows; its own answer counts
   * all the same, whenever it comes.
   */
  async #extend(sentAt: number): Promise<void> {
    const { store, key, token, leaseMs, onError } = this.#claim
    const patienceMs = leaseMs / 6
    if (this.#unanswered !== undefined) onError(noAnswer('extend', patienceMs), 'extend')
    this.#unanswered = sentAt
    this.#extendAt = sentAt + patienceMs
    let held: boolean
    try {
      held = requireBoolean('extend', await store.extend(key, token, leaseMs))
    } catch (error) {
      if (this.#over || this.#unanswered !== sentAt) return
      onError(error, 'extend')
      this.#unanswered = undefined
      this.#extendAt = monotonicNow() + leaseMs / 10
      return this.hold()
    }
    if (this.#over) return
    if (!held) {
      this.abort(new LeaseError('lease_lost', 'The lease of this delivery was lost: another receiver may hold it now.'))
      return
    }
    this.#expiresAt = Math.max(this.#expiresAt, sentAt + leaseMs)
    if (this.#unanswered === sentAt) {
      this.#unanswered = undefined
      // From the sending as well: a slow store would else be asked again after the lease is over.
      this.#extendAt = sentAt + leaseMs / 3
    }
    this.hold()
  }
}
