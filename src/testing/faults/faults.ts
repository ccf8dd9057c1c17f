import { endpoints, type OperationName } from '../../endpoints/index.ts'
import { copyJson } from '../../shared/text.ts'
import { isRecord } from '../../shared/type-checks.ts'
import { abortableDelay, type ServiceClock, untilAborted } from '../clock.ts'
import type { EventListeners } from '../events.ts'
import { isBodyless, type ServiceResponse, standardError } from '../http/messages.ts'
import { readByKind } from '../option-readers.ts'
import { signatureOf } from '../webhooks/messages.ts'
import type { Webhook } from '../webhooks/webhook-registry.ts'
import {
  DELIVERY_FAULTS,
  type DeliveryFaultOptions,
  type FaultChange,
  type FaultOptions,
  type FaultRecord,
  REQUEST_FAULTS,
  type RequestFaultOptions,
  type StatusFault,
} from './fault-options.ts'

/** A fault with the current values of `used` and `remaining`. */
export interface FaultHandle extends FaultRecord {
  /** Cancels the fault. A second call does nothing. */
  cancel(): void
}

interface QueuedFault {
  readonly options: FaultOptions
  readonly handle: FaultHandle
  used: number
  remaining: number
}

/** The faults of future requests and deliveries, oldest first. */
export class FaultQueue {
  readonly #events: EventListeners
  #queue: QueuedFault[] = []
  #count = 0

  constructor(events: EventListeners) {
    this.#events = events
  }

  add(given: FaultOptions): FaultHandle {
    const read: FaultOptions = isOfDelivery(given)
      ? readByKind('fail on delivery', DELIVERY_FAULTS, given)
      : readByKind('fail', REQUEST_FAULTS, given)
    const { times = 1 } = read
    // JSON has no Infinity.
    const options = { ...copyJson(read), ...(times === Infinity && { times }) }
    const handle: FaultHandle = {
      id: `fault_${++this.#count}`,
      get options() {
        return structuredClone(options)
      },
      get used() {
        return fault.used
      },
      get remaining() {
        return fault.remaining
      },
      cancel: () => this.#cancel(fault),
    }
    const fault: QueuedFault = { options, handle, used: 0, remaining: times }
    this.#queue.push(fault)
    this.#reportChange('ordered', fault)
    return handle
  }

  /** Uses the first fault that matches the operation, if any. */
  take(operation: OperationName | undefined): RequestFaultOptions | undefined {
    for (const fault of this.#queue) {
      const { options } = fault
      if (isOfDelivery(options)) continue
      const { on = '*' } = options
      if (on !== '*' && on !== operation) continue
      this.#use(fault)
      return options
    }
    return undefined
  }

  /**
   * Uses the first fault that affects a delivery attempt, if any.
   *
   * @param body - the message, as JSON
   * @param isOvertaking - whether `reorder` holds another message to the same URL until this one is sent. If so, `reorder`
   *   faults are skipped
   */
  takeForDelivery(body: string, isOvertaking: boolean): DeliveryFaultOptions | undefined {
    let message: Readonly<Record<string, unknown>> | undefined
    for (const fault of this.#queue) {
      const { options } = fault
      if (!isOfDelivery(options) || (isOvertaking && options.kind === 'reorder')) continue
      message ??= JSON.parse(body) as Record<string, unknown>
      if (!isAffected(message, options)) continue
      this.#use(fault)
      return options
    }
    return undefined
  }

  handles(): readonly FaultHandle[] {
    return this.#queue.map(({ handle }) => handle)
  }

  clear(): void {
    for (const fault of this.#queue) fault.remaining = 0
    this.#queue = []
  }

  #cancel(fault: QueuedFault): void {
    if (fault.remaining === 0) return
    fault.remaining = 0
    this.#drop(fault)
    this.#reportChange('cancelled', fault)
  }

  #use(fault: QueuedFault): void {
    fault.used++
    fault.remaining--
    if (fault.remaining === 0) this.#drop(fault)
    this.#reportChange('used', fault)
  }

  #drop(fault: QueuedFault): void {
    this.#queue = this.#queue.filter((queued) => queued !== fault)
  }

  #reportChange(change: FaultChange, { handle }: QueuedFault): void {
    this.#events.emit(() => {
      const { id, options, used, remaining } = handle
      return { kind: 'fault_changed', change, fault: { id, options, used, remaining } }
    })
  }
}

const isOfDelivery = (options: FaultOptions): options is DeliveryFaultOptions => options?.on === 'delivery'

/** The outcome of a request for the client: a response, a lost connection, or no response. */
export type Outcome = ResponseOutcome | { readonly kind: 'lost' } | { readonly kind: 'silent' }

interface ResponseOutcome {
  readonly kind: 'response'
  readonly response: ServiceResponse
  readonly transmission: 'whole' | 'truncate' | 'stall' | 'drip'
  /** Milliseconds before a whole response, or between two bytes. */
  readonly delayMs: number
}

const HTML = '<!doctype html><html><body><h1>Something went wrong</h1></body></html>\n'
const DEFAULT_DELAY_MS = 100

/** Whether a request with this fault takes effect. */
export function takesEffect(fault: RequestFaultOptions): boolean {
  const { kind } = fault
  const isReplacement = kind === 'status' || kind === 'garbage' || kind === 'reset' || kind === 'hang'
  return !isReplacement || fault.applied === true
}

/**
 * Returns the outcome of a request, with or without a fault.
 *
 * @param own - the service's own response, if the request took effect
 */
export function applyFault(
  fault: RequestFaultOptions | undefined,
  own: ServiceResponse | undefined,
  operation: OperationName | undefined,
): Outcome {
  // `own` is undefined only for faults that replace the response. Their cases do not read it.
  const response = own as ServiceResponse
  switch (fault?.kind) {
    case undefined:
      return respondWith(response)
    case 'status':
      return respondWith(statusResponse(fault))
    case 'garbage': {
      const { body = HTML } = fault
      return respondWith({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body })
    }
    case 'reset':
    case 'applied_then_reset':
      return { kind: 'lost' }
    case 'hang':
      return { kind: 'silent' }
    case 'truncate':
    case 'stall':
      return respondWith(response, fault.kind)
    case 'drip':
      return respondWith(response, 'drip', fault.delayMs ?? DEFAULT_DELAY_MS)
    case 'delay':
      return respondWith(response, 'whole', fault.delayMs ?? DEFAULT_DELAY_MS)
    case 'misshapen':
      return respondWith({ ...response, status: 200, body: misshapenBody(operation) })
  }
}

function respondWith(
  { status, headers, body }: ServiceResponse,
  transmission: ResponseOutcome['transmission'] = 'whole',
  delayMs = 0,
): Outcome {
  // Tells programs such as `check` that this is not the real service.
  const response = { status, headers: { ...headers, 'x-campaign-client': 'local' }, body }
  return { kind: 'response', response, transmission, delayMs }
}

function statusResponse({ status = 500, headers = {}, body = standardError(status) }: StatusFault): ServiceResponse {
  const named = new Headers({ ...headers })
  if (isBodyless(status)) return { status, headers: Object.fromEntries(named), body: '' }
  if (!named.has('content-type')) named.set('content-type', `${contentType(body)}; charset=utf-8`)
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { status, headers: Object.fromEntries(named), body: text }
}

function contentType(body: unknown): string {
  if (typeof body !== 'string') return 'application/json'
  return /^\s*</.test(body) ? 'text/html' : 'text/plain'
}

const misshapenBody = (operation: OperationName | undefined): string =>
  JSON.stringify(
    operation !== undefined && endpoints[operation].response !== undefined
      ? { success: true, data: 'data of the wrong type' }
      : { result: 'no envelope' },
  )

/**
 * Yields the parts of a body, as the fault lets them through. Throws when the fault closes the connection. Throws the
 * signal's reason when the client aborts.
 */
export async function* transmit(
  bytes: Uint8Array<ArrayBuffer>,
  { transmission, delayMs }: ResponseOutcome,
  clock: ServiceClock,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  if (transmission === 'whole') {
    yield bytes
  } else if (transmission === 'drip') {
    for (let index = 0; index < bytes.length; index++) {
      if (index > 0) await abortableDelay(clock, delayMs, signal)
      yield bytes.subarray(index, index + 1)
    }
  } else {
    yield bytes.subarray(0, Math.floor(bytes.length / 2))
    if (transmission === 'stall') await untilAborted(signal)
    throw lostConnection('terminated')
  }
}

/** Returns the error of `fetch` for a lost connection. */
export const lostConnection = (message: string): TypeError =>
  new TypeError(message, { cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }) })

type Message = Readonly<Record<string, unknown>>

/** Whether a fault affects a message. */
export function isAffected(message: Message, fault: DeliveryFaultOptions): boolean {
  const type = isRecord(message.event) ? message.event.type : undefined
  if (fault.scope !== undefined && fault.scope !== message.scope) return false
  if (fault.type !== undefined && fault.type !== type) return false
  return fault.kind !== 'missing_field' || findField(message, fault.field) !== undefined
}

/** Returns the body and the signature to send. Only `bad_signature` and `missing_field` change them. */
export function applyDeliveryFault(
  fault: DeliveryFaultOptions | undefined,
  body: string,
  webhook: Webhook,
): { readonly body: string; readonly signature: string | undefined } {
  if (fault?.kind === 'bad_signature') return { body, signature: wrongSignature(signatureOf(webhook, body)) }
  if (fault?.kind !== 'missing_field') return { body, signature: signatureOf(webhook, body) }
  const message: Message = JSON.parse(body)
  const found = findField(message, fault.field)
  if (found) delete found.parent[found.name]
  const rest = JSON.stringify(message)
  return { body: rest, signature: signatureOf(webhook, rest) }
}

/** Returns a well-formed signature that does not match. */
const wrongSignature = (signature = '0'.repeat(64)): string =>
  (signature.startsWith('0') ? '1' : '0') + signature.slice(1)

/** Returns the name of a field and the object that has it. */
function findField(
  message: Message,
  dottedPath: string,
): { readonly parent: Record<string, unknown>; readonly name: string } | undefined {
  const names = dottedPath.split('.')
  const name = names.pop() as string
  let parent: unknown = message
  for (const step of names) parent = isRecord(parent) && Object.hasOwn(parent, step) ? parent[step] : undefined
  return isRecord(parent) && Object.hasOwn(parent, name) ? { parent, name } : undefined
}
