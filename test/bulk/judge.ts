import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { AwardRow } from 'campaign-client/bulk'
import { onTestFinished } from 'vitest'

/** A failure of one request. The award is applied or not, and the response is lost, incomplete or an error status. */
export interface Fault {
  readonly isApplied: boolean
  readonly response: 'none' | 'incomplete' | number
}

/** An award that the judge has applied. */
export interface AppliedAward extends AwardRow {
  /** `sub` of the token of the request. */
  readonly subject: string
}

/**
 * A service that awards, written without the package. It records every applied award and every request, so that a test can
 * compare them with reports and ledgers.
 */
export class Judge {
  readonly applied: AppliedAward[] = []
  /** The number of requests for each id, refused and failed ones too. */
  readonly requests = new Map<string, number>()
  /** The number of requests that were applied, or refused because of their award. */
  decisions = 0
  /** The only token that is accepted. */
  token = ''
  /** Ids that are refused as an invalid award. */
  readonly refusedIds = new Set<string>()
  /** Returns the failure of the next request. */
  nextFault: () => Fault | undefined = () => undefined
  /** Called with each request for an award, before it is handled. */
  onAward: () => void = () => undefined
  readonly #server: Server
  #isDown = false

  private constructor() {
    this.#server = createServer((request, response) => {
      // The client has closed the connection before its request was complete.
      this.#handle(request, response).catch(() => response.destroy())
    })
    this.#server.on('connection', (socket) => {
      if (this.#isDown) socket.resetAndDestroy()
    })
  }

  /** Starts a judge that listens until the test ends. */
  static async start(): Promise<Judge> {
    const judge = new Judge()
    judge.#server.listen(0, '127.0.0.1')
    await once(judge.#server, 'listening')
    onTestFinished(() => judge.close())
    return judge
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/api/v1`
  }

  /** Resets every connection, those in use and new ones, until the outage ends. */
  set isDown(isDown: boolean) {
    this.#isDown = isDown
    if (isDown) this.#server.closeAllConnections()
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.baseUrl)
    const isAward = pathname === '/api/v1/wallet/reward'
    const award = isAward ? ((await json(request)) as AwardRow) : undefined
    if (award !== undefined) {
      this.onAward()
      this.requests.set(award.id, (this.requests.get(award.id) ?? 0) + 1)
    }
    const fault = this.nextFault()
    const isTokenValid = request.headers.authorization === `Bearer ${this.token}`
    let [status, body]: [number, object] = [401, { success: false, error: { code: 401, message: 'unknown token' } }]
    if (isTokenValid && (fault === undefined || fault.isApplied)) {
      ;[status, body] = award ? this.#apply(award) : [200, { success: true, data: this.#progress(searchParams) }]
    }
    if (fault?.response === 'none') return void request.socket.resetAndDestroy()
    if (typeof fault?.response === 'number') {
      status = fault.response
      body = { success: false, error: { code: status, message: 'a fault' } }
    }
    const text = JSON.stringify(body)
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...(status === 429 && { 'retry-after': '0' }),
    })
    if (fault?.response === 'incomplete') response.write(text.slice(0, 5), () => request.socket.destroy())
    else response.end(text)
  }

  /** Applies an award, unless its id is refused or used. The response to both is the same. */
  #apply(award: AwardRow): [number, object] {
    this.decisions++
    if (this.refusedIds.has(award.id) || this.applied.some(({ id }) => id === award.id)) {
      return [400, { success: false, error: { code: 400, message: 'invalid award' } }]
    }
    const claims = JSON.parse(Buffer.from(this.token.split('.')[1] ?? '', 'base64url').toString()) as { sub: string }
    this.applied.push({ ...award, subject: claims.sub })
    return [200, { success: true }]
  }

  #progress(query: URLSearchParams): object {
    const account = query.get('account')
    const awards = this.applied.filter(({ address, pid }) => address === account && pid === query.get('pid'))
    const xp = awards.reduce((sum, award) => sum + award.xp, 0)
    return {
      id: `entry-${account}`,
      user_id: account,
      name: '',
      actions: [],
      quests: [],
      challenges: [],
      rewards: awards.map((award) => ({ id: award.id, reward: String(award.xp), type: 'xp' })),
      total: xp,
      xp,
      ref_xp: 0,
      ugc_xp: 0,
      xp_mul: 1,
      rank: 1,
      team: '',
    }
  }
}
