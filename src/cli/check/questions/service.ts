import { randomBytes, randomUUID } from 'node:crypto'
import { expiryOf } from '../../../shared/jwt.ts'
import { isReply, type Outcome } from '../probe.ts'
import {
  asAssumed,
  type CheckFinding,
  cannotTell,
  describeReply,
  detailOf,
  differs,
  noData,
  type Question,
} from '../question.ts'

/** Asked last: it needs a read that works. Shown first: if the service ignores tokens, the other answers prove nothing. */
export const tokenQuestion: Question<Outcome | undefined> = {
  id: 'access.token-checked',
  text: 'wrong token',
  assumed: 'HTTP 401',
  async ask(check) {
    const { workingRead, probe } = check
    return workingRead && check.send(workingRead, { token: wrongToken(probe.options.token) })
  },
  judge(_, outcome) {
    if (outcome === undefined) return cannotTell('no read returned data with the right token')
    if (outcome.status === 401) return asAssumed()
    if (!isReply(outcome) || outcome.status >= 300 || outcome.kind !== 'data') return noData(outcome)
    if (outcome.header('x-campaign-client') === 'local') {
      return cannotTell('the local service takes any token; `dev --token TOKEN` takes only one')
    }
    const advice = 'the other results do not prove that your token works: ask the operator of the service'
    return differs('a wrong token gets data', advice, { status: outcome.status })
  },
}

/** Changes the first character of a JWT's signature. Replaces any other token with a random one. */
function wrongToken(token: string): string {
  const [header, payload, signature, ...rest] = token.split('.')
  if (signature === undefined || signature === '' || rest.length > 0) return randomBytes(24).toString('hex')
  return `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
}

/** The questions about access, except `tokenQuestion`. */
export const access: readonly Question[] = [
  {
    id: 'access.address',
    text: 'base URL',
    assumed: 'the service responds',
    ask: (check) => check.read('getCampaignPoints'),
    judge({ firstReply, probe }) {
      if (firstReply === undefined) return noData(undefined)
      return asAssumed(probe.options.baseUrl.startsWith('https:') ? 'over TLS' : 'without TLS, on this machine')
    },
  },
  {
    id: 'access.path',
    text: 'path of the base URL',
    assumed: 'ends in /api/v1',
    judge({ probe }) {
      if (probe.options.baseUrl.endsWith('/api/v1')) return asAssumed()
      return differs('ends differently', 'check CAMPAIGN_BASE_URL: in the API description, the path ends in /api/v1')
    },
  },
  {
    id: 'access.token-expiry',
    text: 'token',
    assumed: 'a JWT with exp',
    judge({ probe }) {
      const expiry = new Date(expiryOf(probe.options.token) ?? Number.NaN)
      if (Number.isNaN(expiry.getTime())) return cannotTell('it is not a JWT with exp')
      return asAssumed(`expires at ${expiry.toISOString()}`)
    },
  },
]

/** Headers that identify a request or describe a rate limit. */
const HEADERS = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-trace-id',
  'traceparent',
  'cf-ray',
  'retry-after',
  'ratelimit',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
]

function judgeError(outcome: Outcome, statuses: readonly number[]): CheckFinding {
  if (!isReply(outcome)) return noData(outcome)
  const { status, form } = outcome
  const detail = detailOf(outcome)
  if (statuses.includes(status) && form === 'standard') return asAssumed(`got HTTP ${status}`, detail)
  return differs(describeReply(outcome), 'handle the error by its class, which depends on the HTTP status only', detail)
}

const missingArgument: Question<Outcome> = {
  id: 'errors.missing-argument',
  text: 'error for a missing argument',
  assumed: 'a standard error with HTTP 400',
  ask: ({ probe, args }) => probe.get('getUserProgress', { pid: args.pid }),
  judge: (_, outcome) => judgeError(outcome, [400]),
}

const unknownCampaign: Question<Outcome> = {
  id: 'errors.unknown-campaign',
  text: 'error for an unknown campaign',
  assumed: 'a standard error with HTTP 400 or 403',
  needs: ['account', 'platform'],
  ask: (check) => check.send('getUserProgress', { values: { pid: `none-${randomUUID()}` } }),
  judge: (_, outcome) => judgeError(outcome, [400, 403]),
}

const unknownAccount: Question<Outcome> = {
  id: 'errors.unknown-account',
  text: 'error for a user without an entry in the campaign',
  assumed: 'a standard error with HTTP 400',
  needs: ['account', 'platform'],
  ask: (check) => check.send('getUserProgress', { values: { account: `none-${randomUUID()}` } }),
  judge: (_, outcome) => judgeError(outcome, [400]),
}

const headers: Question = {
  id: 'errors.headers',
  text: 'headers with request ids or rate limits',
  assumed: 'none',
  judge({ firstReply }) {
    if (firstReply === undefined) return noData(undefined)
    const paths = HEADERS.filter((name) => firstReply.header(name) !== null)
    if (paths.length === 0) return asAssumed()
    return differs(paths.join(', '), 'log them: they help the operator to find a request', { paths })
  },
}

export const errors: readonly Question[] = [missingArgument, unknownCampaign, unknownAccount, headers]

const READ_COUNT = 10

const readTimes: Question<readonly number[]> = {
  id: 'timing.reads',
  text: 'time of a read',
  assumed: '',
  async ask(check) {
    const { workingRead } = check
    const times: number[] = []
    for (let read = 0; workingRead !== undefined && read < READ_COUNT; read++) {
      const outcome = await check.send(workingRead)
      if (isReply(outcome)) times.push(outcome.durationMs)
    }
    return times.sort((a, b) => a - b)
  },
  judge(_, times) {
    const [median, slowest] = [times[Math.floor(times.length / 2)], times.at(-1)]
    if (median === undefined || slowest === undefined) return cannotTell('no read got a response')
    return asAssumed(`median ${Math.round(median)} ms, slowest ${Math.round(slowest)} ms of ${times.length} reads`)
  },
}

const clock: Question = {
  id: 'timing.clock',
  text: 'difference between the clocks',
  assumed: '',
  judge({ firstReply }) {
    const date = Date.parse(firstReply?.header('date') ?? '')
    if (firstReply === undefined || Number.isNaN(date)) return cannotTell('the responses have no usable Date header')
    const seconds = Math.round((date - firstReply.receivedAt) / 1_000)
    if (Math.abs(seconds) <= 1) return asAssumed('less than 2 s')
    return asAssumed(`the service is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}`)
  },
}

/** These results are not compared with an earlier profile. */
export const timing: readonly Question[] = [readTimes, clock]
