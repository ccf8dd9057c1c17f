import { createHmac } from 'node:crypto'
import type { Random } from './world.ts'

/** A request as it arrives at the service. */
export interface ServiceRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly token: string
  readonly body: Readonly<Record<string, unknown>>
  /** Who sent it: known to the world, not to the service. */
  readonly sender: string
}

export interface ServiceResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

/** An award that was applied. */
export interface AppliedAward {
  readonly address: string
  readonly pid: string
  readonly xp: number
  readonly sender: string
  /** The account of the token. */
  readonly subject: string
}

/** The state of the reference service. */
export interface ServiceState {
  /** The accepted tokens, with the account and the end of their validity by the wall clock. */
  readonly tokens: Map<string, { readonly subject: string; readonly expiresAt: number }>
  readonly awards: Map<string, AppliedAward>
  /** Ids that are refused like used ones, for another reason. */
  readonly refusedIds: Set<string>
  /** How often each value was recorded, by the number that identifies it. */
  readonly values: Map<number, number>
  /** Messages to send. */
  readonly messages: { readonly id: string; readonly text: string }[]
}

export const newState = (): ServiceState => ({
  tokens: new Map(),
  awards: new Map(),
  refusedIds: new Set(),
  values: new Map(),
  messages: [],
})

const json = (status: number, body: object, headers = {}): ServiceResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

const failure = (status: number, message: string, headers = {}): ServiceResponse =>
  json(status, { success: true, error: { code: status, message } }, headers)

/**
 * The reference service: applies a request to the state. Written from the API description, without the package and its local
 * service.
 *
 * @param now - the wall clock, in milliseconds
 */
export function respond(state: ServiceState, request: ServiceRequest, now: number): ServiceResponse {
  const account = state.tokens.get(request.token)
  if (account === undefined || account.expiresAt <= now) return failure(401, 'unauthorized')
  switch (`${request.method} ${request.path}`) {
    case 'POST /wallet/reward':
      return award(state, request, account.subject)
    case 'GET /user/progress':
      return json(200, { success: true, data: progressOf(state, request.query) })
    case 'POST /action/value': {
      const {
        account: user,
        pid,
        aid,
        value,
      } = request.body as { account: string; pid: string; aid: string; value: number }
      state.values.set(value, (state.values.get(value) ?? 0) + 1)
      state.messages.push(completion(`value-${value}-${state.values.get(value)}`, { user, pid, aid, xp: value }))
      return json(200, { success: true })
    }
    default:
      return failure(404, 'not found')
  }
}

function award(state: ServiceState, { body, sender }: ServiceRequest, subject: string): ServiceResponse {
  const { id, address, pid, xp } = body as { id: string; address: string; pid: string; xp: number }
  if (state.refusedIds.has(id)) return failure(400, 'bad request', { 'x-refusal-reason': 'not_allowed' })
  if (state.awards.has(id)) return failure(400, 'bad request', { 'x-refusal-reason': 'used_id' })
  state.awards.set(id, { address, pid, xp, sender, subject })
  return json(200, { success: true })
}

function progressOf(state: ServiceState, query: URLSearchParams): object {
  const account = query.get('account')
  const awards = [...state.awards].filter(([, { address, pid }]) => address === account && pid === query.get('pid'))
  const xp = awards.reduce((sum, [, applied]) => sum + applied.xp, 0)
  return {
    ...{ id: `entry-${account}`, user_id: account, name: '', actions: [], quests: [], challenges: [] },
    rewards: awards.map(([id, applied]) => ({ id, reward: String(applied.xp), type: 'xp' })),
    ...{ total: xp, xp, ref_xp: 0, ugc_xp: 0, xp_mul: 1, rank: 1, team: '' },
  }
}

const completion = (id: string, { user, pid, aid, xp }: { user: string; pid: string; aid: string; xp: number }) => ({
  id,
  text: JSON.stringify({
    ...{ id, scope: 'user_activity', user, wallet: '', email: '', campaign: { id: pid, name: pid } },
    event: { type: 'action_completed', data: { action: { id: aid, name: aid, type: 'visit' }, xp } },
    ...{ total_xp: xp, ref_xp: 0, ugc_xp: 0, xp_mul: 1, rank: 1, team: '' },
  }),
})

/** A message about a completed task that no request caused. */
export const newMessage = (id: string): ServiceState['messages'][number] =>
  completion(id, { user: 'user', pid: 'pid', aid: 'task', xp: 1 })

export const sign = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('hex')

/** Returns a token of an account. Its last part is a secret. */
export function newToken(random: Random, subject: string, expiresAt: number): { token: string; secret: string } {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const secret = `secret${random.uuid().replaceAll('-', '')}`
  const claims = { iss: 'simulation', sub: subject, exp: Math.floor(expiresAt / 1000) }
  return { token: `${part({ alg: 'none' })}.${part(claims)}.${secret}`, secret }
}
