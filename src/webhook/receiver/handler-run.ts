import { DiscardEvent, type LeaseError } from '../../errors/webhook-errors.ts'
import {
  type ClaimedDelivery,
  completeDelivery,
  Lease,
  type RunLimit,
  releaseDelivery,
  type StoreCall,
} from './delivery.ts'
import type { Message } from './message.ts'
import type { WebhookHandledOutcome, WebhookHandler } from './options.ts'

/** How a handler ended. `interrupted`: it stopped because its signal had fired. */
export type RunOutcome = Exclude<WebhookHandledOutcome, 'duplicate'>

export interface HandlerRunOptions {
  message: Message
  retainMs: number
  runLimit: RunLimit
  handle: WebhookHandler
  /** Called when the handler has ended. `startedAt` is a time of `performance.now()`. */
  onEnd(outcome: RunOutcome, startedAt: number): void
}

/**
 * One run of the handler for a claimed delivery. After a success, completes the delivery, which records it as done.
 * Otherwise releases the delivery, so that another attempt can claim it.
 */
export class HandlerRun {
  /** Resolves to the call of the store that ends the claim, when the handler has ended. Never rejects. */
  readonly ended: Promise<StoreCall>
  /** Resolves after the first attempt of `abandon()` to release the claim. */
  readonly abandoned: Promise<void>
  readonly #delivery: ClaimedDelivery
  readonly #options: HandlerRunOptions
  readonly #lease: Lease
  #outcome: RunOutcome | undefined
  #onAbandoned: () => void = () => {}

  constructor(delivery: ClaimedDelivery, options: HandlerRunOptions) {
    this.#delivery = delivery
    this.#options = options
    this.#lease = new Lease(delivery, options.runLimit)
    this.abandoned = new Promise((resolve) => {
      this.#onAbandoned = resolve
    })
    this.ended = this.#run()
  }

  /** How the handler ended, or `undefined` while it runs. The store may not have recorded it yet. */
  get outcome(): RunOutcome | undefined {
    return this.#outcome
  }

  /** Aborts the signal of a handler that is still running. */
  abort(reason: LeaseError): void {
    this.#lease.abort(reason)
  }

  /**
   * Releases the claim of a handler that is still running, because the process is about to exit. The claim of a handler that
   * has succeeded is kept, so that no other receiver handles the message before the lease expires.
   */
  async abandon(): Promise<void> {
    if (this.#outcome !== undefined) return this.#onAbandoned()
    const { firstAttempt, settled } = releaseDelivery(this.#delivery)
    void firstAttempt.then(this.#onAbandoned)
    await settled
  }

  async #run(): Promise<StoreCall> {
    const startedAt = performance.now()
    const outcome = await this.#handle()
    this.#lease.end()
    this.#outcome = outcome
    this.#options.onEnd(outcome, startedAt)
    const isDone = outcome === 'handled' || outcome === 'discarded'
    return isDone ? completeDelivery(this.#delivery, this.#options.retainMs) : releaseDelivery(this.#delivery)
  }

  async #handle(): Promise<RunOutcome> {
    const { handle, message } = this.#options
    const { event, rawBody, secretIndex } = message
    const { key, onError } = this.#delivery
    const lease = this.#lease
    try {
      await handle(event, {
        // A getter, because creating a signal takes as long as verifying a message, and few handlers use it.
        get signal() {
          return lease.signal
        },
        rawBody,
        key,
        secretIndex,
      })
      return 'handled'
    } catch (error) {
      if (error instanceof DiscardEvent) return 'discarded'
      const { abortReason } = lease
      // The lease has reported its abort reason already.
      if (abortReason === undefined || error !== abortReason) onError(error, 'handle')
      return abortReason === undefined ? 'failed' : 'interrupted'
    }
  }
}
