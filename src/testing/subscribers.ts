import { callHook } from '../shared/call-hook.ts'
import { isFunction, requireOptions } from '../shared/options.ts'
import type { ServiceClock } from './clock.ts'
import type { ServiceEvent } from './service-event.ts'

type Listener = (event: ServiceEvent) => void

/** Those who want to know what happens. */
export class Subscribers {
  readonly #listeners = new Set<{ readonly listener: Listener }>()
  readonly #events: ServiceEvent[] = []
  readonly #clock: ServiceClock
  #isTelling = false
  #stopWatchingClock: (() => void) | undefined

  constructor(clock: ServiceClock) {
    this.#clock = clock
  }

  /**
   * @returns what ends the subscription
   * @throws TypeError when it is not a function
   */
  add(listener: Listener): () => void {
    requireOptions('subscribe', { listener }, { listener: isFunction })
    const entry = { listener }
    this.#listeners.add(entry)
    this.#watchClock()
    return () => {
      this.#listeners.delete(entry)
      this.#watchClock()
    }
  }

  /** Tells everybody, in the order in which things happened: also when a listener makes more of them happen. */
  tell(event: () => ServiceEvent): void {
    if (this.#listeners.size === 0) return
    this.#events.push(event())
    if (this.#isTelling) return
    this.#isTelling = true
    for (let next = this.#events.shift(); next; next = this.#events.shift()) this.#tellAll(next)
    this.#isTelling = false
  }

  /** While somebody listens: a clock may outlive many services. */
  #watchClock(): void {
    if (this.#listeners.size === 0) {
      this.#stopWatchingClock?.()
      this.#stopWatchingClock = undefined
    } else {
      this.#stopWatchingClock ??= this.#clock.onMove?.(() => {
        this.tell(() => ({ kind: 'clock_moved', at: this.#clock.now() }))
      })
    }
  }

  #tellAll(event: ServiceEvent): void {
    for (const entry of [...this.#listeners]) {
      // One that was called before may have ended this one's subscription.
      if (this.#listeners.has(entry)) callHook(() => entry.listener(event), throwLater)
    }
  }
}

/** An assertion that fails in a listener must fail the test, and break nothing of the service. */
function throwLater(reason: unknown): void {
  queueMicrotask(() => {
    throw reason
  })
}
