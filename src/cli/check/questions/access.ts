import { randomBytes } from 'node:crypto'
import { expiryOf } from '../../../shared/jwt.ts'
import { isReply, type Outcome } from '../probe.ts'
import { asAssumed, cannotTell, differs, noData, type Question } from '../question.ts'

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
