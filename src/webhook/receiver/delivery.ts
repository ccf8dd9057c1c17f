import { insist } from './bookkeeping.ts'
import { type HeldClaim, releaseClaim } from './claim.ts'
import { DiscardEvent } from './discard-event.ts'
import type { Message } from './intake.ts'
import { Lease, LeaseError, type RunTerm } from './lease.ts'
import type { WebhookHandledOutcome, WebhookHandler, WebhookHandlerContext } from './options.ts'
import { requireBoolean } from './store-answers.ts'
import { monotonicNow } from './timer.ts'

/** How a delivery ended: `interrupted` means that the handler gave up because its signal had fired. */
export type DeliveryOutcome = Exclude<WebhookHandledOutcome, 'duplicate'>

/** What is to be done under a claim. */
export interface DeliveryTerms {
  message: Message
  retainMs: number
  run: RunTerm
  handle: WebhookHandler
  /** Whether the outcome is told only when it is recorded for good. */
  untilRecorded: boolean
  /** The handler came to an end. `startedAt` is on the monotonic clock. */
  onEnd(outcome: DeliveryOutcome, startedAt: number): void
}

/**
 * One claimed delivery, from the call of the handler until it is recorded or released.
 *
 * A handler that succeeded has done its work, so from then on the outcome is success, also when the store cannot record
 * it: asking the service to try again would make the handler run a second time for certain, while an unrecorded
 * message runs twice only if somebody sends it again.
 */
export class Delivery {
  /**
   * The outcome, as soon as the sender may hear of it: when the first attempt to record or release it has ended, or was
   * waited for long enough. Never rejects.
   */
  readonly outcome: Promise<DeliveryOutcome>
  /** Resolves when nothing of it is left to do. Never rejects. */
  readonly settled: Promise<DeliveryOutcome>
  readonly #claim: HeldClaim
  readonly #terms: DeliveryTerms
  readonly #lease: Lease
  #tell: (outcome: DeliveryOutcome) => void = () => {}
  #success: 'handled' | 'discarded' | undefined

  constructor(claim: HeldClaim, terms: DeliveryTerms) {
    this.#claim = claim
    this.#terms = terms
    this.#lease = new Lease(claim, terms.run)
    this.outcome = new Promise((resolve) => {
      this.#tell = resolve
    })
    this.settled = this.#run()
  }

  /** How the handler succeeded, as soon as it has: the record of it may still be missing. */
  get success(): 'handled' | 'discarded' | undefined {
    return this.#success
  }

  /** Fires the signal of a handler that is still running. */
  abort(reason: LeaseError): void {
    this.#lease.abort(reason)
  }

  /**
   * Releases the claim although the handler has not come to an end: the process is about to. What was handled and only
   * waits for its record stays claimed, so that no other attempt handles it again before the lease lapses.
   */
  async cutOff(): Promise<void> {
    // Stryker disable next-line StringLiteral: all that is looked at once the receiver closes is whether it failed
    const tell = (): void => this.#tell('interrupted')
    if (this.#success === undefined) await releaseClaim(this.#claim, tell)
    tell()
  }

  async #run(): Promise<DeliveryOutcome> {
    const startedAt = monotonicNow()
    const outcome = await this.#handle()
    this.#lease.end()
    this.#terms.onEnd(outcome, startedAt)
    const onFirstAttempt = this.#terms.untilRecorded ? () => {} : () => this.#tell(outcome)
    if (outcome === 'handled' || outcome === 'discarded') {
      this.#success = outcome
      await this.#record(onFirstAttempt)
    } else {
      await releaseClaim(this.#claim, onFirstAttempt)
    }
    this.#tell(outcome)
    return outcome
  }

  async #handle(): Promise<DeliveryOutcome> {
    const { handle, message } = this.#terms
    const { key, onError } = this.#claim
    const lease = this.#lease
    try {
      const running = handle(message.event, handlerContext(message, key, lease))
      // What can't be a promise is through. Some that can be awaited are functions.
      if ((typeof running === 'object' && running !== null) || typeof running === 'function') lease.hold()
      await running
      return 'handled'
    } catch (error) {
      if (error instanceof DiscardEvent) return 'discarded'
      // The reason of the signal was told when it fired.
      if (lease.lost === undefined || error !== lease.lost) onError(error, 'handle')
      return lease.lost === undefined ? 'failed' : 'interrupted'
    }
  }

  async #record(onFirstAttempt: () => void): Promise<void> {
    const { store, key, token, leaseMs, onError } = this.#claim
    const { retainMs } = this.#terms
    try {
      const answer = await insist('complete', leaseMs, () => store.complete(key, token, retainMs), onFirstAttempt)
      if (requireBoolean('complete', answer)) return
      const message = 'The handler succeeded, but its delivery had been taken over: it may have been handled twice.'
      onError(new LeaseError('lease_lost', message), 'complete')
    } catch (error) {
      onError(error, 'complete')
    }
  }
}

const LEASE: unique symbol = Symbol('lease')

type WithLease = Omit<WebhookHandlerContext, 'signal'> & { readonly [LEASE]: Lease }

/**
 * One getter for all contexts. A getter of its own would give each context a hidden class of its own, which keeps all of
 * the message until the next full collection: a fifth of the CPU time of a message (Node 20).
 */
const SIGNAL: PropertyDescriptor = {
  enumerable: true,
  configurable: true,
  get(this: WithLease) {
    return this[LEASE].signal
  },
}

function handlerContext({ rawBody, secretIndex }: Message, key: string, lease: Lease): WebhookHandlerContext {
  const context = { rawBody, key, secretIndex }
  Object.defineProperty(context, LEASE, { value: lease })
  return Object.defineProperty(context, 'signal', SIGNAL) as WebhookHandlerContext
}
