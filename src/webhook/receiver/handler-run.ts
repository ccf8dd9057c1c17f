import { DiscardEvent, type LeaseError } from '../errors.ts'
import { Lease, type RunLimit } from './lease.ts'
import type { Message } from './read-message.ts'
import { type ClaimedDelivery, completeDelivery, releaseDelivery } from './store-calls.ts'
import type { WebhookHandledOutcome, WebhookHandler } from './webhook-receiver-options.ts'

/** How a handler ended. `interrupted`: it stopped because its signal had fired. */
export type RunOutcome = Exclude<WebhookHandledOutcome, 'duplicate'>

export interface HandlerRunOptions {
  message: Message
  retainMs: number
  runLimit: RunLimit
  handle: WebhookHandler
  /** Whether `outcome` waits for all attempts to complete or release the delivery. Otherwise, it waits for the first. */
  answerAfterRecording: boolean
  /** Called when the handler has ended. `startedAt` is a time of `performance.now()`. */
  onEnd(outcome: RunOutcome, startedAt: number): void
}

/**
 * One run of the handler for a claimed delivery. After a success, completes the delivery, which records it as done.
 * Otherwise releases the delivery, so that another attempt can claim it.
 *
 * When the handler has succeeded, the outcome is a success even if the store cannot record it: an error answer would cause
 * a retry, and the retry would run the handler again.
 */
export class HandlerRun {
  /** Resolves when the sender may be answered. Never rejects. */
  readonly outcome: Promise<RunOutcome>
  /** Resolves when the delivery is completed or released, or all attempts have failed. Never rejects. */
  readonly settled: Promise<void>
  readonly #claim: ClaimedDelivery
  readonly #options: HandlerRunOptions
  readonly #lease: Lease
  #resolve: (outcome: RunOutcome) => void = () => {}
  #success: 'handled' | 'discarded' | undefined

  constructor(claim: ClaimedDelivery, options: HandlerRunOptions) {
    this.#claim = claim
    this.#options = options
    this.#lease = new Lease(claim, options.runLimit)
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve
    })
    this.settled = this.#run()
  }

  /** How the handler succeeded, or `undefined`. The store may not have recorded it yet. */
  get success(): 'handled' | 'discarded' | undefined {
    return this.#success
  }

  /** Aborts the signal of a handler that is still running. */
  abort(reason: LeaseError): void {
    this.#lease.abort(reason)
  }

  /**
   * Releases the claim of a handler that is still running, because the process is about to exit. The claim of a handler that
   * has succeeded is kept, so that no other receiver handles the message before the lease expires.
   */
  async releaseClaim(): Promise<void> {
    const answer = (): void => this.#resolve('interrupted')
    if (this.#success === undefined) await releaseDelivery(this.#claim, answer)
    answer()
  }

  async #run(): Promise<void> {
    const startedAt = performance.now()
    const outcome = await this.#handle()
    this.#lease.end()
    this.#options.onEnd(outcome, startedAt)
    const onRetry = this.#options.answerAfterRecording ? () => {} : () => this.#resolve(outcome)
    if (outcome === 'handled' || outcome === 'discarded') {
      this.#success = outcome
      await completeDelivery(this.#claim, this.#options.retainMs, onRetry)
    } else {
      await releaseDelivery(this.#claim, onRetry)
    }
    this.#resolve(outcome)
  }

  async #handle(): Promise<RunOutcome> {
    const { handle, message } = this.#options
    const { event, rawBody, secretIndex } = message
    const { key, onError } = this.#claim
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
