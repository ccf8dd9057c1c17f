import type { FaultChange, FaultRecord } from './faults/fault-queue.ts'
import type { ServiceResponse } from './http/request-and-response.ts'
import type { RequestRecord } from './http/request-log.ts'
import type { StateSnapshot } from './state/state-snapshot.ts'
import type { DeliveryRecord } from './webhooks/delivery-queue.ts'
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

/** A fault was added, used by a request, or cancelled. */
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
