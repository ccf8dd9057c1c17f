import type { DeliveryRecord } from './deliveries/delivery-queue.ts'
import type { WebhookChange, WebhookRecord } from './deliveries/webhook-registry.ts'
import type { FaultChange, FaultRecord } from './faults/fault-queue.ts'
import type { RequestRecord } from './http/request-log.ts'
import type { ServiceAnswer } from './http/service-message.ts'
import type { StateSnapshot } from './world/snapshot.ts'

interface EventBase {
  /** When it happened, in milliseconds since the epoch, by the service's clock. */
  readonly at: number
}

/** A request was answered. Events of its changes come before it. */
export interface RequestAnsweredEvent extends EventBase {
  readonly kind: 'request_answered'
  readonly request: RequestRecord
  /** The answer of the service; absent when a fault left the client without one. */
  readonly answer?: ServiceAnswer
}

/** Entries, awards or values changed. */
export interface StateChangedEvent extends EventBase {
  readonly kind: 'state_changed'
  /** The entries that are new or changed, as they are now, and the new awards and values. */
  readonly changed: StateSnapshot
}

/** A delivery was queued, an attempt ended, or the delivery was dropped. */
export interface DeliveryChangedEvent extends EventBase {
  readonly kind: 'delivery_changed'
  /** The delivery as it is now. */
  readonly delivery: DeliveryRecord
}

/** A webhook was registered, replaced or unregistered. */
export interface WebhookChangedEvent extends EventBase {
  readonly kind: 'webhook_changed'
  readonly change: WebhookChange
  readonly webhook: WebhookRecord
}

/** A fault was added, met by a request, or cancelled. */
export interface FaultChangedEvent extends EventBase {
  readonly kind: 'fault_changed'
  readonly change: FaultChange
  /** The fault as it is now. */
  readonly fault: FaultRecord
}

/** The service's clock was moved by hand; `at` is the new time. */
export interface ClockMovedEvent extends EventBase {
  readonly kind: 'clock_moved'
}

/** The service was reset. */
export interface ResetEvent extends EventBase {
  readonly kind: 'reset'
}

/** An event of the service. Later versions may add kinds: ignore those you don't know. */
export type ServiceEvent =
  | RequestAnsweredEvent
  | StateChangedEvent
  | DeliveryChangedEvent
  | WebhookChangedEvent
  | FaultChangedEvent
  | ClockMovedEvent
  | ResetEvent
