import type { WebhookEvent } from '../event/types.ts'
import type { DeliveryStore } from '../stores/store.ts'
import { DiscardEvent } from './discard-event.ts'
import { Lease, LeaseError } from './lease.ts'
import type { WebhookErrorStage, WebhookHandler } from './options.ts'
import { requireBoolean } from './store-answers.ts'
import { atMost, sleep } from './timer.ts'

/** How a run ended: `interrupted` means that the handler gave up because its signal had fired. */
export type RunOutcome = 'handled' | 'discarded' | 'failed' | 'interrupted'

export interface RunTerms {
  store: DeliveryStore
  key: string
  token: string
  leaseMs: number
  retainMs: number
  claimedAt: number
  runUntil: number
  event: WebhookEvent
  rawBody: Uint8Array
  secretIndex: number
  handle: WebhookHandler
  onError(error: unknown, stage: WebhookErrorStage): void
}

/** The waits between attempts to record a handled delivery: together well under the default lease. */
const RECORD_RETRY_MS = [100, 300, 1000, 3000] as const

/**
 * One claimed delivery, from the call of the handler until it is recorded or released.
 *
 * A handler that succeeded has done its work, so from then on the outcome is success, also when the store cannot record
 * it: asking the service to try again would make the handler run a second time for certain, while an unrecorded
 * message runs twice only if somebody sends it again.
 */
export class DeliveryRun {
  /** Never rejects. Pending for as long as the handler runs, even after it was aborted. */
  readonly outcome: Promise<RunOutcome>
  /** Resolves when the run was cut off by `cutOff()` before its handler came to an end. */
  readonly interrupted: Promise<'interrupted'>
  readonly #terms: RunTerms
  readonly #lease: Lease
  #interrupt: (outcome: 'interrupted') => void = () => {}
  #success: 'handled' | 'discarded' | undefined

  constructor(terms: RunTerms) {
    this.#terms = terms
    this.#lease = new Lease({ ...terms, onExtendError: (error) => terms.onError(error, 'extend') })
    this.interrupted = new Promise((resolve) => {
      this.#interrupt = resolve
    })
    this.outcome = this.#run()
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
   * waits for its record stays claimed, so that no other attempt repeats it before the lease lapses.
   */
  async cutOff(): Promise<void> {
    if (this.#success === undefined) await this.#release()
    this.#interrupt('interrupted')
  }

  async #run(): Promise<RunOutcome> {
    const { event, rawBody, key, secretIndex, handle, onError } = this.#terms
    const { signal } = this.#lease
    try {
      await handle(event, { signal, rawBody, key, secretIndex })
      this.#success = 'handled'
    } catch (error) {
      if (!(error instanceof DiscardEvent)) {
        this.#lease.end()
        onError(error, 'handle')
        await this.#release()
        return signal.aborted ? 'interrupted' : 'failed'
      }
      this.#success = 'discarded'
    }
    this.#lease.end()
    await this.#record()
    return this.#success
  }

  async #record(): Promise<void> {
    const { onError } = this.#terms
    try {
      const reply = await this.#complete()
      if (reply === undefined) {
        onError(new Error('The delivery store did not answer before the lease ran out.'), 'complete')
      } else if (!requireBoolean('complete', reply.answer)) {
        const message = 'The handler succeeded, but its delivery had been taken over: it may have been handled twice.'
        onError(new LeaseError('lease_lost', message), 'complete')
      }
    } catch (error) {
      onError(error, 'complete')
    }
  }

  /** @returns what the store answered, `undefined` when it did not; rejects when the last attempt did */
  async #complete(): Promise<{ answer: unknown } | undefined> {
    const { store, key, token, retainMs, leaseMs } = this.#terms
    const attempt = async () => ({ answer: await store.complete(key, token, retainMs) })
    for (const waitMs of RECORD_RETRY_MS) {
      try {
        return await atMost(leaseMs, attempt())
      } catch {
        await sleep(waitMs)
      }
    }
    return atMost(leaseMs, attempt())
  }

  async #release(): Promise<void> {
    const { store, key, token, leaseMs, onError } = this.#terms
    try {
      // Past leaseMs the claim has lapsed by itself.
      await atMost(leaseMs, store.release(key, token))
    } catch (error) {
      onError(error, 'release')
    }
  }
}
