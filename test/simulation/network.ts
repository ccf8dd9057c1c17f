import type { FetchLike, Transport, TransportRequest } from 'campaign-client'
import { TransportError } from 'campaign-client'
import { respond, type ServiceRequest, type ServiceResponse, type ServiceState } from './service.ts'
import type { Process, World } from './world.ts'

export const BASE_URL = 'https://service.example/api/v1'

/** What can happen to a request. `applied` means that the service handles it, and its response does not arrive. */
const FAULTS = [
  'refused',
  'lost before',
  'lost, applied',
  'no response',
  'no response, applied',
  'late, applied',
  'half response, applied',
  'half error',
  '500',
  '500 echo',
  '503, applied',
  '502 html',
  '504 html, applied',
  '200 html, applied',
  '200 success false',
  '400 html',
  '401',
  '403',
  '408, applied',
  '429',
  '429 retry-after',
  '302',
] as const
export type Fault = (typeof FAULTS)[number]

const HTML = '<html><title>Gateway</title></html>'
const errorBody = (code: number): string => JSON.stringify({ success: false, error: { code, message: 'a fault' } })

/** The network between the processes and the service. Each world has its own selection of faults and outages. */
export class Network {
  readonly world: World
  readonly state: ServiceState
  /** After this, every request arrives and is answered. */
  isCalm = false
  /** The faults of the next requests, before any drawn ones. */
  readonly nextFaults: Fault[] = []
  readonly #faults: readonly Fault[]
  readonly #rate: number
  readonly #delayMs: number
  /** Until when the service is down. */
  #downUntil = 0

  constructor(world: World, state: ServiceState) {
    const { random } = world
    this.world = world
    this.state = state
    this.#faults = random.some(FAULTS, random.next())
    this.#rate = this.#faults.length === 0 ? 0 : random.pick([0.02, 0.1, 0.3, 0.6])
    this.#delayMs = random.duration(1, 2_000)
  }

  goDown(ms: number): void {
    this.#downUntil = this.world.now + ms
    this.world.say(`the service is down for ${ms} ms`)
  }

  get #isDown(): boolean {
    return !this.isCalm && this.world.now < this.#downUntil
  }

  transport(owner: Process, watch: ClientWatch): Transport {
    return {
      send: async (request, { onCancel }) => {
        const response = await this.#exchange(owner, watch, request, (cancel) => onCancel(cancel))
        const headers = new Headers(response.headers)
        return {
          status: response.status,
          header: (name) => headers.get(name),
          text: response.body,
          complete: !response.isHalf,
        }
      },
    }
  }

  fetch(owner: Process, watch: ClientWatch): FetchLike {
    return async (url, init) => {
      const { method = 'GET', headers, body, signal } = init as RequestInit
      const request = {
        method,
        url: String(url),
        headers: headers as Record<string, string>,
        body: body as string,
      } as TransportRequest
      let response: Response & { isHalf?: boolean }
      try {
        const { status, headers, body, isHalf } = await this.#exchange(owner, watch, request, (cancel) => {
          signal?.addEventListener('abort', () => cancel(signal.reason), { once: true })
        })
        response = new Response(isHalf ? broken(body) : body, { status, headers: headers ?? {} })
      } catch (error) {
        // The platform's fetch does not tell whether the request was sent.
        throw error instanceof TransportError ? new TypeError('fetch failed', { cause: error.cause }) : error
      }
      return response
    }
  }

  /** Sends a request as a process. Rejects with a TransportError, or with the reason of the cancellation. */
  #exchange(
    owner: Process,
    watch: ClientWatch,
    request: TransportRequest,
    onCancel: (cancel: (reason: unknown) => void) => void,
  ): Promise<ServiceResponse & { readonly isHalf?: boolean }> {
    const { world } = this
    const { random } = world
    const drawn = !this.isCalm && random.chance(this.#rate) ? random.pick(this.#faults) : undefined
    const fault = this.nextFaults.shift() ?? drawn
    const received = this.#received(owner, request)
    const shown = `${owner.name}: ${request.method} ${received.path} ${received.body.id ?? received.body.value ?? ''}`
    return new Promise((resolve, reject) => {
      let isCancelled = false
      let ended = (_status?: number, _retryAfter?: string, _date?: string): void => undefined
      onCancel((reason) => {
        isCancelled = true
        ended()
        reject(reason)
      })
      const settle = (text: string, end: () => void): void => {
        const arrive = (): void => {
          if (isCancelled) return
          owner.use(() => {
            world.say(`${shown} ← ${text}`)
            end()
          })
        }
        world.after(this.#delay(), arrive, owner)
      }
      const lose = (text: string, sent: boolean): void => {
        const systemCode = sent ? 'ECONNRESET' : 'ECONNREFUSED'
        const cause = Object.assign(new Error(systemCode), { code: systemCode })
        settle(text, () => {
          ended()
          reject(new TransportError(text, { kind: 'network', sent, systemCode, cause }))
        })
      }
      // The process may die before the bytes leave, and after.
      owner.use(() => {
        world.requests++
        world.say(`${shown} → ${fault ?? ''}`)
        for (const listener of this.onSend) listener(owner)
        ended = watch.sending(received.token)
        if (this.#isDown || fault === 'refused') return lose('connection refused', false)
        if (fault === 'lost before') return lose('connection lost', true)
        if (fault === 'no response') return
        const answered = ANSWERS[fault as keyof typeof ANSWERS]
        const isApplied = fault === undefined || fault.endsWith('applied')
        const arrivesIn = fault === 'late, applied' ? random.duration(10_000, 600_000) : this.#delay()
        world.after(arrivesIn, () => {
          if (this.#isDown && fault !== 'late, applied') return lose('connection lost', true)
          const response = isApplied ? this.#respond(received) : undefined
          if (fault === 'lost, applied') return lose('connection lost', true)
          if (fault === 'no response, applied' || fault === 'late, applied') return
          const isHalf = fault?.startsWith('half')
          const { status, body, ...rest } = answered?.(world, received) ?? (response as ServiceResponse)
          const text = isHalf ? body.slice(0, random.int(0, body.length - 1)) : body
          settle(`${status}${isHalf ? ', half' : ''}`, () => {
            ended(status, rest.headers?.['retry-after'], rest.headers?.date)
            resolve({ status, body: text, isHalf: isHalf ?? false, ...rest })
          })
        })
      })
    })
  }

  #delay(): number {
    return this.world.random.int(0, this.isCalm ? 50 : this.#delayMs)
  }

  #received(owner: Process, { method, url, headers, body }: TransportRequest): ServiceRequest {
    const { pathname, searchParams } = new URL(url)
    return {
      method,
      path: pathname.slice('/api/v1'.length),
      query: searchParams,
      token: (headers.authorization ?? '').slice('Bearer '.length),
      body: body === undefined ? {} : (JSON.parse(body) as Record<string, unknown>),
      sender: owner.name.split(' ')[0] as string,
    }
  }

  #respond(request: ServiceRequest): ServiceResponse {
    const { status, ...response } = respond(this.state, request, this.world.wallNow)
    if (status === 200 && request.method === 'POST') {
      this.world.say(`the service applies ${request.body.id ?? request.body.value} of ${request.sender}`)
    }
    return { status, ...response }
  }

  /** Listeners, called when a process sends a request. */
  readonly onSend: ((owner: Process) => void)[] = []
}

/** The longest time that a call takes. */
const MAX_CALL_MS = 60_000
/** The client obeys a longer `Retry-After` for this time. */
const MAX_PAUSE_MS = 30_000

/** The invariants of the requests of one client: pauses after a 429, and the newest token. */
export class ClientWatch {
  readonly #world: World
  #pausedUntil = 0
  /** Whether a limit began, and no other response has arrived since. */
  #isLimited = false
  /** The number of times that a limit began. */
  #epoch = 0
  /** The last request that was sent since then. */
  #probe: { hasEnded: boolean } | undefined
  /** When the source was asked for each token: 1 for the first. */
  readonly #asked = new Map<string, number>()
  #newest = { asked: 0, since: 0 }

  constructor(world: World) {
    this.#world = world
  }

  /** Records a token of the source. @param asked - the number of the call of the source */
  received(token: string, asked: number): void {
    this.#asked.set(token, asked)
  }

  /** Checks a request. @returns a function to call when it ends, with the status if there is a response */
  sending(token: string): (status?: number, retryAfter?: string, date?: string) => void {
    const world = this.#world
    const { now } = world
    world.require(
      now >= this.#pausedUntil,
      () => `a request is sent ${this.#pausedUntil - now} ms before the end of a pause`,
    )
    const before = this.#probe
    if (this.#isLimited && before?.hasEnded === false) {
      // Its time limit may end at this very moment.
      const message = (): string => 'a request is sent while the probe after a 429 is under way'
      world.after(1, () => world.require(before.hasEnded, message))
    }
    const request = { hasEnded: false }
    const epoch = this.#epoch
    if (this.#isLimited) this.#probe = request
    const asked = this.#asked.get(token) ?? 0
    if (asked > this.#newest.asked) this.#newest = { asked, since: now }
    const isOld = asked < this.#newest.asked && now > this.#newest.since + MAX_CALL_MS
    world.require(!isOld, () => 'a request is sent with an old token, long after a newer one was used')
    return (status, retryAfter, date) => {
      if (request.hasEnded) return
      request.hasEnded = true
      if (status === undefined) return
      if (status !== 429) {
        this.#isLimited = false
        this.#probe = undefined
        this.#pausedUntil = 0
        return
      }
      // A request that was sent before the last limit began shows no new limit. Its `Retry-After` counts.
      if (epoch === this.#epoch) {
        this.#epoch++
        this.#isLimited = true
      }
      // A date has whole seconds.
      const ms = /^\d+$/.test(retryAfter ?? '')
        ? Number(retryAfter) * 1000
        : Date.parse(retryAfter ?? '') - Date.parse(date ?? '') - 1000
      if (ms > 0) this.#pausedUntil = Math.max(this.#pausedUntil, world.now + Math.min(ms, MAX_PAUSE_MS) - 1)
    }
  }
}

/** The responses of faults that a proxy or a broken service sends. */
const ANSWERS: Partial<Record<Fault, (world: World, request: ServiceRequest) => ServiceResponse>> = {
  'half error': () => ({ status: 500, body: errorBody(500) }),
  500: () => ({ status: 500, body: errorBody(500) }),
  '500 echo': (_, { token }) => ({
    status: 500,
    body: JSON.stringify({ error: { code: 500, message: `refused: ${token}` } }),
  }),
  '503, applied': () => ({ status: 503, body: '' }),
  '502 html': () => ({ status: 502, headers: { 'content-type': 'text/html' }, body: HTML }),
  '504 html, applied': () => ({ status: 504, headers: { 'content-type': 'text/html' }, body: HTML }),
  '200 html, applied': () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: HTML }),
  '200 success false': () => ({ status: 200, body: JSON.stringify({ success: false }) }),
  '400 html': () => ({ status: 400, headers: { 'content-type': 'text/html' }, body: HTML }),
  401: () => ({ status: 401, body: errorBody(401) }),
  403: () => ({ status: 403, body: errorBody(403) }),
  '408, applied': () => ({ status: 408, body: '' }),
  429: () => ({ status: 429, body: errorBody(429) }),
  '429 retry-after': (world) => {
    const seconds = world.random.pick([1, 5, 40])
    const asDate = world.random.chance(0.3)
    const value = asDate ? new Date(world.wallNow + seconds * 1000).toUTCString() : String(seconds)
    return { status: 429, headers: { 'retry-after': value, date: new Date(world.wallNow).toUTCString() }, body: '' }
  },
  302: () => ({ status: 302, headers: { location: 'https://elsewhere.example/' }, body: '' }),
}

/** A body that breaks off after `text`. */
function broken(text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  let isSent = false
  return new ReadableStream({
    pull(controller) {
      if (isSent || bytes.length === 0) controller.error(new TypeError('terminated'))
      else controller.enqueue(bytes)
      isSent = true
    },
  })
}
