import { endpoints, type OperationName } from '../../endpoints/index.ts'
import { abortableDelay, type ServiceClock, untilAborted } from '../clock/service-clock.ts'
import { isBodyless, type ServiceResponse, standardError } from '../http/responses.ts'
import type { RequestFaultOptions, StatusFault } from './fault-options.ts'

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
  // Tells programs such as `check` that this is no real service.
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
