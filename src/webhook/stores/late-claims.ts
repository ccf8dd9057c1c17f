import { Semaphore } from '../../shared/semaphore.ts'
import { startTimer } from '../../shared/timers.ts'

const FIRST_DELAY_MS = 500

/**
 * Releases claims that nobody holds: the store has given up waiting for the response, but the database may still make the claim,
 * or has made it. Otherwise the message would be busy for a whole lease.
 */
export class LateClaims {
  /** Limits the store to one such release at a time: while the database is down, there may be many. */
  readonly #turn = new Semaphore(1)

  /**
   * Tries to release a claim until it was released, or its lease would be over.
   *
   * @param leaseMs - the lease of the claim
   * @param release - resolves to whether the claim existed
   */
  async release(leaseMs: number, release: () => Promise<boolean>): Promise<void> {
    const end = performance.now() + leaseMs
    const tryOnce = async (): Promise<boolean> => performance.now() >= end || release()
    for (let delayMs = FIRST_DELAY_MS; ; delayMs *= 2) {
      await new Promise<void>((resolve) => void startTimer(delayMs, resolve))
      if (await this.#turn.run(tryOnce).catch(() => false)) return
    }
  }
}
