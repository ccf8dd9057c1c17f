import {
  createWebhookReceiver,
  type DeliveryStore,
  type WebhookErrorContext,
  type WebhookEvent,
  type WebhookFailedMessage,
  type WebhookFailedOptions,
  type WebhookReceiver,
  type WebhookReceiverOptions,
  type WebhookRejection,
} from 'campaign-client/webhook'
import { SECRET } from '../signed-message.ts'

export interface ObservedReceiver {
  receiver: WebhookReceiver
  /** The events that the handler received, in order. */
  handled: WebhookEvent[]
  rejections: WebhookRejection[]
  errors: { error: unknown; context: WebhookErrorContext }[]
}

/** Creates a receiver that records the calls of its handler and its hooks. */
export function observedReceiver(options: Partial<WebhookReceiverOptions> = {}): ObservedReceiver {
  const { handle } = options
  const handled: WebhookEvent[] = []
  const rejections: WebhookRejection[] = []
  const errors: ObservedReceiver['errors'] = []
  const receiver = createWebhookReceiver({
    endpoint: 'campaign',
    secret: SECRET,
    onReject: (rejection) => rejections.push(rejection),
    onError: (error, context) => errors.push({ error, context }),
    ...options,
    handle(event, context) {
      handled.push(event)
      return handle?.(event, context)
    },
  })
  return { receiver, handled, rejections, errors }
}

/** Returns the failed messages of a receiver, by default also those that the service has not given up. */
export async function failedMessages(
  receiver: WebhookReceiver,
  options: WebhookFailedOptions = { olderThanMs: 0 },
): Promise<WebhookFailedMessage[]> {
  const messages: WebhookFailedMessage[] = []
  for await (const message of receiver.failed(options)) messages.push(message)
  return messages
}

/** A promise that the test settles. */
export function deferred<T = void>(): { promise: Promise<T>; resolve(value: T): void; reject(error: unknown): void } {
  let resolve: (value: T) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}

/** Records the method names of all calls of a store. `overrides` replaces methods. */
export function recordingStore(
  inner: DeliveryStore,
  overrides: Partial<DeliveryStore> = {},
): { store: DeliveryStore; calls: string[] } {
  const calls: string[] = []
  const store: DeliveryStore = {
    claim(...args) {
      calls.push('claim')
      return (overrides.claim ?? inner.claim)(...args)
    },
    extend(key, token, leaseMs) {
      calls.push('extend')
      return (overrides.extend ?? inner.extend)(key, token, leaseMs)
    },
    complete(key, token, retainMs) {
      calls.push('complete')
      return (overrides.complete ?? inner.complete)(key, token, retainMs)
    },
    release(...args) {
      calls.push('release')
      return (overrides.release ?? inner.release)(...args)
    },
  }
  return { store, calls }
}

export const never: Promise<never> = new Promise(() => {})
