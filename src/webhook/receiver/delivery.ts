import { type ClaimedDelivery, completeDelivery, releaseDelivery } from './claim.ts'
import { DiscardEvent, type LeaseError } from './handler-errors.ts'
import { Lease, type RunLimit } from './lease.ts'
import type { Message } from './read-message.ts'
import { monotonicNow } from './timers.ts'
import type { WebhookHandledOutcome, WebhookHandler } from './webhook-receiver-options.ts'

/** How a handler ended. `interrupted`: it stopped because its signal had fired. */
export type DeliveryOutcome = Exclude<WebhookHandledOutcome, 'duplicate'>

/** What to do with a claimed delivery. */
export interface DeliveryTerms {
  message: Message
  retainMs: number
  runLimit: RunLimit
  handle: WebhookHandler
  /** Whether `outcome` waits until the delivery is completed or released. */
  untilRecorded: boolean
  /** Called when the handler has ended. `startedAt` is on the monotonic clock. */
  onEnd(outcome: DeliveryOutcome, startedAt: number): void
}

/**
 * A claimed delivery, from the call of the handler until it is completed or released.
 *
 * When the handler has succeeded, the outcome is success even if the store cannot record it: a retry would certainly run
 * the handler a second time, while an unrecorded message runs twice only if it is sent again.
 */
export class Delivery {
  /**
   * Resolves when the sender may be answered: when the first attempt to complete or release has ended or took too long.
   * Never rejects.
   */
  readonly outcome: Promise<DeliveryOutcome>
  /** Resolves when nothing is left to do. Never rejects. */
  readonly settled: Promise<void>
  readonly #claim: ClaimedDelivery
  readonly #terms: DeliveryTerms
  readonly #lease: Lease
  #resolve: (outcome: DeliveryOutcome) => void = () => {}
  #success: 'handled' | 'discarded' | undefined

  constructor(claim: ClaimedDelivery, terms: DeliveryTerms) {
    this.#claim = claim
    this.#terms = terms
    this.#lease = new Lease(claim, terms.runLimit)
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve
    })
    this.settled = this.#run()
  }

  /** How the handler succeeded, as soon as it has. The delivery may not be recorded yet. */
  get success(): 'handled' | 'discarded' | undefined {
    return this.#success
  }

  /** Fires the signal of a handler that is still running. */
  abort(reason: LeaseError): void {
    this.#lease.abort(reason)
  }

  /**
   * Releases the claim of a handler that has not ended, because the process is about to end. A delivery that was handled
   * and is not recorded yet stays claimed, so that it is not handled again before the lease lapses.
   */
  async cutOff(): Promise<void> {
    const answer = (): void => this.#resolve('interrupted')
    if (this.#success === undefined) await releaseDelivery(this.#claim, answer)
    answer()
  }

  async #run(): Promise<void> {
    const startedAt = monotonicNow()
    const outcome = await this.#handle()
    this.#lease.end()
    this.#terms.onEnd(outcome, startedAt)
    const onFirstAttempt = this.#terms.untilRecorded ? () => {} : () => this.#resolve(outcome)
    if (outcome === 'handled' || outcome === 'discarded') {
      this.#success = outcome
      await completeDelivery(this.#claim, this.#terms.retainMs, onFirstAttempt)
    } else {
      await releaseDelivery(this.#claim, onFirstAttempt)
    }
    this.#resolve(outcome)
  }

  async #handle(): Promise<DeliveryOutcome> {
    const { handle, message } = this.#terms
    const { event, rawBody, secretIndex } = message
    const { key, onError } = this.#claim
    const lease = this.#lease
    try {
      const running = handle(event, {
        get signal() {
          return lease.signal
        },
        rawBody,
        key,
        secretIndex,
      })
      // Only an object or a function can be awaited.
      if ((typeof running === 'object' && running !== null) || typeof running === 'function') lease.hold()
      await running
      return 'handled'
    } catch (error) {
      if (error instanceof DiscardEvent) return 'discarded'
      // The reason of the signal was reported when it fired.
      if (lease.lost === undefined || error !== lease.lost) onError(error, 'handle')
      return lease.lost === undefined ? 'failed' : 'interrupted'
    }
  }
}
