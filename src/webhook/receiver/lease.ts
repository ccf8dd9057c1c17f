import { CampaignError } from '../../shared/campaign-error.ts'
import type { DeliveryStore } from '../stores/store.ts'
import { requireBoolean } from './store-answers.ts'
import { monotonicNow, startTimer } from './timer.ts'

/**
 * Why a handler lost its delivery:
 *
 * - `lease_lost`: another receiver took it over, or the store could not be reached until the lease ran out;
 * - `run_time_exceeded`: the handler ran for `maxRunMs`;
 * - `receiver_closed`: `close()` was called and its limit passed.
 */
export type LeaseErrorCode = 'lease_lost' | 'run_time_exceeded' | 'receiver_closed'

/**
 * The `reason` of the signal a webhook handler gets, and what `onError` is told when a delivery was taken over. From
 * then on the same message may be handled elsewhere: stop, and write nothing more.
 */
export class LeaseError extends CampaignError {
  /** @internal */
  static override readonly brand: string = 'LeaseError'

  declare readonly code: LeaseErrorCode

  /** @internal */
  constructor(code: LeaseErrorCode, message: string) {
    super(message, { code })
  }
}

/** One claim that was made, and how long it may be held. */
export interface LeaseTerms {
  store: DeliveryStore
  key: string
  token: string
  leaseMs: number
  /** When the claim was sent, on the monotonic clock: the store's lease cannot have begun earlier. */
  claimedAt: number
  /** When the handler has to stop, on the monotonic clock. No extension is sent from then on. */
  runUntil: number
  /** Told of every extension the store refused to answer. */
  onExtendError(error: unknown): void
}

/**
 * Holds a claim for as long as the handler runs: extends it three times per lease, and aborts `signal` when it is lost.
 *
 * The end of the lease is counted here from before each call to the store was sent, so it never lies later than the
 * store's own: the signal fires before somebody else can take the delivery over.
 */
export class Lease {
  readonly #terms: LeaseTerms
  readonly #controller = new AbortController()
  readonly #cancelRunLimit: () => void
  #cancelExtension: () => void
  #cancelExpiry: () => void
  #over = false

  constructor(terms: LeaseTerms) {
    this.#terms = terms
    this.#cancelRunLimit = startTimer(terms.runUntil - monotonicNow(), () => this.#runTimeExceeded())
    this.#cancelExpiry = this.#startExpiry(terms.claimedAt)
    this.#cancelExtension = this.#startExtension(terms.claimedAt + terms.leaseMs / 3)
  }

  /** Fires when the claim is no longer held. Never fires after `end()`. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Stops extending, without aborting: the handler is through. */
  end(): void {
    this.#over = true
    this.#cancelRunLimit()
    this.#cancelExtension()
    this.#cancelExpiry()
  }

  /** Stops extending and aborts the signal. Does nothing once the lease is over. */
  abort(reason: LeaseError): void {
    if (this.#over) return
    this.end()
    this.#controller.abort(reason)
  }

  #startExpiry(from: number): () => void {
    return startTimer(from + this.#terms.leaseMs - monotonicNow(), () => {
      this.abort(
        new LeaseError('lease_lost', 'The delivery store did not extend the lease of this delivery before it ran out.'),
      )
    })
  }

  #startExtension(at: number): () => void {
    return startTimer(at - monotonicNow(), () => void this.#extend())
  }

  #runTimeExceeded(): void {
    this.abort(
      new LeaseError(
        'run_time_exceeded',
        'The webhook handler ran for maxRunMs. The lease is left to lapse, so that a later attempt can be handled.',
      ),
    )
  }

  async #extend(): Promise<void> {
    const { store, key, token, leaseMs, runUntil, onExtendError } = this.#terms
    const sentAt = monotonicNow()
    // A blocked event loop fires this timer late, and before the one of the run limit.
    if (sentAt >= runUntil) return this.#runTimeExceeded()
    let held: boolean
    try {
      held = requireBoolean('extend', await store.extend(key, token, leaseMs))
    } catch (error) {
      if (this.#over) return
      onExtendError(error)
      this.#cancelExtension = this.#startExtension(monotonicNow() + leaseMs / 10)
      return
    }
    if (this.#over) return
    if (!held) {
      this.abort(new LeaseError('lease_lost', 'The lease of this delivery was lost: another receiver may hold it now.'))
      return
    }
    this.#cancelExpiry()
    this.#cancelExpiry = this.#startExpiry(sentAt)
    // From the sending as well: a slow store would else be asked again after the lease is over.
    this.#cancelExtension = this.#startExtension(sentAt + leaseMs / 3)
  }
}
