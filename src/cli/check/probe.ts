import type { Transport, TransportRequest, TransportResponse } from 'campaign-client'
import { parseJson } from '../../shared/text/json.ts'
import { isRecord } from '../../shared/types.ts'

/** The most requests that one run sends. */
export const MAX_REQUESTS = 60
/** At most five requests a second. */
const INTERVAL_MS = 200
const TIMEOUT_MS = 10_000
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024

/** A response that says something: 2xx, or a 4xx that is about the request itself. */
export interface Reply {
  readonly status: number
  readonly body: Body
  readonly durationMs: number
  readonly header: (name: string) => string | null
}

/** Why a request says nothing. */
export interface NoReply {
  readonly reason: string
  /** False where the request certainly never left. */
  readonly sent: boolean
  readonly status?: number
}

/** The meaning of a body. `form` is the form of an error, or of a body that is not an envelope. */
export type Body =
  | { readonly kind: 'data'; readonly data: unknown }
  | { readonly kind: 'error'; readonly form: 'standard' | 'string' | 'other'; readonly code?: number | string }
  | { readonly kind: 'other'; readonly form: 'empty' | 'not JSON' | 'no envelope' }

export type Outcome = Reply | NoReply

export const isReply = (outcome: Outcome | undefined): outcome is Reply => outcome !== undefined && 'body' in outcome

/** Returns the data of a 2xx reply, or `undefined`. */
export const dataOf = (outcome: Outcome | undefined): unknown =>
  isReply(outcome) && outcome.status < 300 && outcome.body.kind === 'data' ? outcome.body.data : undefined

interface ProbeOptions {
  readonly transport: Pick<Transport, 'send'>
  readonly address: string
  readonly token: string
  readonly signal: AbortSignal
  /** Waits for a number of milliseconds. */
  readonly wait: (ms: number) => Promise<unknown>
  /** Called before each request. */
  readonly onRequest?: (count: number) => void
}

/** Sends raw requests within the limits of a run, one after the other, and never retries. */
export class Probe {
  readonly #options: ProbeOptions
  #sent = 0
  #lastSentAt = Number.NEGATIVE_INFINITY
  /** Why no further request is sent. */
  #stopped: string | undefined
  #hasData = false
  #tokenRefused = false

  constructor(options: ProbeOptions) {
    this.#options = options
  }

  /** Whether the service refused the token before any read gave data. */
  get tokenRefused(): boolean {
    return this.#tokenRefused
  }

  get(path: string, query: Readonly<Record<string, string>>): Promise<Outcome> {
    return this.#send({ method: 'GET', url: this.#url(path, query) })
  }

  post(path: string, body: object): Promise<Outcome> {
    return this.#send({ method: 'POST', url: this.#url(path, {}), body: JSON.stringify(body) })
  }

  /** Sends a read with another token. It may use the request that is reserved for it. */
  getWithToken(token: string, path: string, query: Readonly<Record<string, string>>): Promise<Outcome> {
    return this.#send({ method: 'GET', url: this.#url(path, query) }, token)
  }

  wait(ms: number): Promise<unknown> {
    return this.#stopped === undefined ? this.#options.wait(ms) : Promise.resolve()
  }

  #url(path: string, query: Readonly<Record<string, string>>): string {
    const search = new URLSearchParams(query).toString()
    return `${this.#options.address}/${path}${search && `?${search}`}`
  }

  async #send(request: Pick<TransportRequest, 'method' | 'url' | 'body'>, otherToken?: string): Promise<Outcome> {
    const { transport, token, signal, wait, onRequest } = this.#options
    if (this.#stopped !== undefined) return { reason: this.#stopped, sent: false }
    // One request is reserved for the check of the token.
    const limit = otherToken === undefined ? MAX_REQUESTS - 1 : MAX_REQUESTS
    if (this.#sent >= limit) return { reason: `limit of ${MAX_REQUESTS} requests`, sent: false }
    const pauseMs = this.#lastSentAt + INTERVAL_MS - performance.now()
    if (pauseMs > 0) await wait(pauseMs)
    if (signal.aborted) this.#stopped = 'interrupted'
    if (this.#stopped !== undefined) return { reason: this.#stopped, sent: false }
    this.#sent++
    onRequest?.(this.#sent)
    const startedAt = performance.now()
    this.#lastSentAt = startedAt
    let response: TransportResponse
    const timeout = AbortSignal.timeout(TIMEOUT_MS)
    try {
      response = await transport.send(
        {
          ...request,
          headers: {
            accept: 'application/json',
            authorization: `Bearer ${otherToken ?? token}`,
            ...(request.body !== undefined && { 'content-type': 'application/json' }),
          },
          idempotent: request.method === 'GET',
          maxResponseBytes: MAX_RESPONSE_BYTES,
        },
        AbortSignal.any([signal, timeout]),
      )
    } catch (error) {
      if (signal.aborted) this.#stopped = 'interrupted'
      else if (timeout.aborted) return { reason: `no answer within ${TIMEOUT_MS / 1_000} s`, sent: true }
      return {
        reason: this.#stopped ?? networkReason(error),
        sent: (error as { sent?: unknown } | null)?.sent !== false,
      }
    }
    const reply = { status: response.status, header: response.header, durationMs: performance.now() - startedAt }
    const refusal = this.#refusalOf(response, otherToken !== undefined)
    if (refusal !== undefined) return { reason: refusal, sent: true, status: response.status }
    const body = bodyOf(response)
    this.#hasData ||= response.status < 300 && body.kind === 'data'
    return { ...reply, body }
  }

  /** Returns why a response says nothing about the request. */
  #refusalOf({ status, complete }: TransportResponse, isOtherToken: boolean): string | undefined {
    if (status === 429) {
      this.#stopped = 'the service limited the rate (HTTP 429)'
      return this.#stopped
    }
    if (status === 401 && !isOtherToken && !this.#hasData) {
      this.#tokenRefused = true
      this.#stopped = 'the service refused the token (HTTP 401)'
    }
    if (status === 401 || status === 408 || status >= 500 || status < 200 || (status >= 300 && status < 400)) {
      return `HTTP ${status}`
    }
    return complete ? undefined : 'the answer broke off'
  }
}

function networkReason(error: unknown): string {
  const { kind, systemCode } = (error ?? {}) as { kind?: unknown; systemCode?: unknown }
  if (kind === 'too_large') return `an answer of more than ${MAX_RESPONSE_BYTES / 1024 / 1024} MiB`
  return typeof systemCode === 'string' && /^[A-Z0-9_]{1,60}$/.test(systemCode) ? systemCode : 'no answer'
}

function bodyOf({ text }: TransportResponse): Body {
  let body: unknown
  try {
    body = parseJson(text)
  } catch {
    return { kind: 'other', form: text.trim() === '' ? 'empty' : 'not JSON' }
  }
  if (!isRecord(body)) return { kind: 'other', form: 'no envelope' }
  const { success, error, data } = body
  if (isRecord(error)) {
    const isStandard = Number.isInteger(error.code) && typeof error.message === 'string'
    return { kind: 'error', form: isStandard ? 'standard' : 'other', ...(isStandard && { code: error.code as number }) }
  }
  if (typeof error === 'string' && error !== '') {
    const isKnown = error === 'missing_user' || error === 'self_referral_not_allowed'
    return { kind: 'error', form: 'string', ...(isKnown && { code: error }) }
  }
  if ((error ?? '') !== '' || success === false) return { kind: 'error', form: 'other' }
  return success === true ? { kind: 'data', data } : { kind: 'other', form: 'no envelope' }
}
