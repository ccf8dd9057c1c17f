import { issuesAt, mustBeFunction, refuseOptions } from '../errors/option-checks.ts'
import { callSafely } from '../shared/call-safely.ts'
import type { ServiceClock } from './clock.ts'
import type { FaultChange, FaultRecord } from './faults/fault-options.ts'
import type { ServiceResponse } from './http/messages.ts'
import type { RequestRecord } from './http/request-log.ts'
import type { StateSnapshot } from './state/service-state.ts'
import type { DeliveryRecord } from './webhooks/delivery.ts'
import type { WebhookChange, WebhookRecord } from './webhooks/webhook-registry.ts'

interface EventBase {
  /** Time of the event, in milliseconds since the epoch, by the service's clock. */
  readonly at: number
}

/** The service responded to a request. Events for changes that the request made come first. */
export interface RequestAnsweredEvent extends EventBase {
  /** Identifies the type of the event. */
  readonly kind: 'request_answered'
  /** The request. */
  readonly request: RequestRecord
  /** The response to the client; absent when a fault prevented a response. */
  readonly response?: ServiceResponse
}

/** Entries, awards or values changed. */
export interface StateChangedEvent extends EventBase {
  /** Identifies the type of the event. */
  readonly kind: 'state_changed'
  /** The new and changed entries, and the new awards and values. */
  readonly changed: StateSnapshot
}

/** A delivery was queued, an attempt ended, or the delivery was dropped. */
export interface DeliveryChangedEvent extends EventBase {
  /** Identifies the type of the event. */
  readonly kind: 'delivery_changed'
  /** The delivery after the change. */
  readonly delivery: DeliveryRecord
}

/** A webhook was registered, replaced or unregistered. */
export interface WebhookChangedEvent extends EventBase {
  /** Identifies the type of the event. */
  readonly kind: 'webhook_changed'
  /** What happened to the webhook. */
  readonly change: WebhookChange
  /** The webhook after the change. */
  readonly webhook: WebhookRecord
}

/** A fault was added, used, or cancelled. */
export interface FaultChangedEvent extends EventBase {
  /** Identifies the type of the event. */
  readonly kind: 'fault_changed'
  /** What happened to the fault. */
  readonly change: FaultChange
  /** The fault after the change. */
  readonly fault: FaultRecord
}

/** A manual clock was moved; `at` is the new time. */
export interface ClockMovedEvent extends EventBase {
  /** Identifies the type of the event. */
  readonly kind: 'clock_moved'
}

/** The service was reset. */
export interface ResetEvent extends EventBase {
  /** Identifies the type of the event. */
  readonly kind: 'reset'
}

/** An event of the service. Later versions may add kinds: ignore unknown kinds. */
export type ServiceEvent =
  | RequestAnsweredEvent
  | StateChangedEvent
  | DeliveryChangedEvent
  | WebhookChangedEvent
  | FaultChangedEvent
  | ClockMovedEvent
  | ResetEvent

/** An event without its time, which {@link EventListeners.emit} adds. */
type Untimed<Event> = Event extends ServiceEvent ? Omit<Event, 'at'> : never

type Listener = (event: ServiceEvent) => void

/** The listeners of `service.subscribe`. */
export class EventListeners {
  readonly #subscriptions = new Set<{ readonly listener: Listener }>()
  readonly #queue: ServiceEvent[] = []
  readonly #clock: ServiceClock
  #isEmitting = false
  #stopWatchingClock: (() => void) | undefined

  constructor(clock: ServiceClock) {
    this.#clock = clock
  }

  /**
   * @returns a function that ends the subscription
   * @throws ConfigurationError when `listener` is not a function
   */
  add(listener: Listener): () => void {
    refuseOptions('subscribe', issuesAt('listener', mustBeFunction(listener)))
    const subscription = { listener }
    this.#subscriptions.add(subscription)
    this.#watchClock()
    return () => {
      this.#subscriptions.delete(subscription)
      this.#watchClock()
    }
  }

  /**
   * Calls every listener. If a listener causes another event, all listeners receive the current event first.
   *
   * @param createEvent - called only if there are listeners, because copying the records takes time
   */
  emit(createEvent: () => Untimed<ServiceEvent>): void {
    if (this.#subscriptions.size === 0) return
    this.#queue.push({ at: this.#clock.now(), ...createEvent() })
    if (this.#isEmitting) return
    this.#isEmitting = true
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) this.#callListeners(next)
    this.#isEmitting = false
  }

  /** Watches the clock only while there are listeners: a clock may outlive many services. */
  #watchClock(): void {
    if (this.#subscriptions.size === 0) {
      this.#stopWatchingClock?.()
      this.#stopWatchingClock = undefined
    } else {
      this.#stopWatchingClock ??= this.#clock.onMove?.(() => this.emit(() => ({ kind: 'clock_moved' })))
    }
  }

  #callListeners(event: ServiceEvent): void {
    for (const subscription of [...this.#subscriptions]) {
      // An earlier listener may have ended this subscription.
      if (this.#subscriptions.has(subscription)) callSafely(() => subscription.listener(event), throwLater)
    }
  }
}

/** A failed assertion in a listener must fail the test without affecting the service. */
function throwLater(reason: unknown): void {
  queueMicrotask(() => {
    throw reason
  })
}
