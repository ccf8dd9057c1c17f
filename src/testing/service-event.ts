import type { ServiceAnswer } from './answer.ts'
import type { DeliveryRecord } from './deliveries/delivery-queue.ts'
import type { WebhookChange, WebhookRecord } from './deliveries/webhook-registry.ts'
import type { FaultChange, FaultRecord } from './faults/queue.ts'
import type { RequestRecord } from './http/request-log.ts'
import type { StateSnapshot } from './world/snapshot.ts'

interface Happened {
  /** When, in milliseconds since the epoch, by the service's clock. */
  readonly at: number
}

/** A request has been dealt with. It comes after what the request changed. */
export interface RequestAnsweredEvent extends Happened {
  readonly kind: 'request_answered'
  readonly request: RequestRecord
  /** The answer as the service gave it; absent where a fault leaves the client without one. */
  readonly answer?: ServiceAnswer
}

/** Entries, awards or values have changed. */
export interface StateChangedEvent extends Happened {
  readonly kind: 'state_changed'
  /** The entries that are new or not what they were, as they are now; the awards and values that are new. */
  readonly changed: StateSnapshot
}

/** A delivery was made, an attempt of it has ended, or it was dropped. */
export interface DeliveryChangedEvent extends Happened {
  readonly kind: 'delivery_changed'
  /** The delivery as it is now. */
  readonly delivery: DeliveryRecord
}

/** A webhook was registered, replaced or unregistered. */
export interface WebhookChangedEvent extends Happened {
  readonly kind: 'webhook_changed'
  readonly change: WebhookChange
  readonly webhook: WebhookRecord
}

/** A fault was ordered, met by a request, or taken back. */
export interface FaultChangedEvent extends Happened {
  readonly kind: 'fault_changed'
  readonly change: FaultChange
  /** The fault as it is now. */
  readonly fault: FaultRecord
}

/** The service's clock was moved by hand, to `at`. */
export interface ClockMovedEvent extends Happened {
  readonly kind: 'clock_moved'
}

/** The service was reset: all that was told before is no more. */
export interface ResetEvent extends Happened {
  readonly kind: 'reset'
}

/** Something that happened in the service. Later versions may add kinds: leave out those you don't know. */
export type ServiceEvent =
  | RequestAnsweredEvent
  | StateChangedEvent
  | DeliveryChangedEvent
  | WebhookChangedEvent
  | FaultChangedEvent
  | ClockMovedEvent
  | ResetEvent
