import { randomBytes } from 'node:crypto'
import { endpoints } from '../../endpoints/index.ts'
import { isReply, type Outcome } from './probe.ts'
import { claimsOf } from './profile.ts'
import { asAssumed, type Check, cannotTell, differs, type Group, type Question } from './question.ts'

/** Sent last, shown first: if the service ignores tokens, the other answers prove nothing. */
export const tokenQuestion: Question = {
  id: 'access.token-checked',
  text: 'wrong token',
  assumed: 'HTTP 401',
  async ask(check) {
    const operation = check.workingRead()
    if (operation === undefined) return
    const query = check.queryOf(operation, check.queryNames.get(operation) ?? {})
    const { path = '' } = endpoints[operation]
    withWrongToken.set(check, await check.probe.getWithToken(wrongToken(check.token), path, query))
  },
  judge(check) {
    const outcome = withWrongToken.get(check)
    if (outcome === undefined) return cannotTell('no read gave data with the right token')
    if (!isReply(outcome)) return outcome.status === 401 ? asAssumed() : cannotTell(outcome.reason)
    const { status, body } = outcome
    if (status >= 300 || body.kind !== 'data') return cannotTell(`HTTP ${status}`, { status })
    const advice = 'the other answers do not show that your token works: ask the operator of the service'
    return differs('a wrong token gets data', advice, { status })
  },
}

const withWrongToken = new WeakMap<Check, Outcome>()

/** Changes the first character of a JWT's signature; replaces any other token by a random one. */
function wrongToken(token: string): string {
  const [header, payload, signature, ...rest] = token.split('.')
  if (signature === undefined || signature === '' || rest.length > 0) return randomBytes(24).toString('hex')
  return `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
}

export const access: Group = {
  title: 'access',
  questions: [
    {
      id: 'access.address',
      text: 'address',
      assumed: 'the service answers',
      async ask(check) {
        await check.read('getCampaignPoints')
      },
      judge({ address, firstReply }) {
        if (firstReply === undefined) return cannotTell('no read was answered')
        return asAssumed(address.startsWith('https:') ? 'over TLS' : 'without TLS, on this machine')
      },
    },
    {
      id: 'access.path',
      text: 'path of the address',
      assumed: 'ends in /api/v1',
      judge({ address }) {
        return address.endsWith('/api/v1')
          ? asAssumed()
          : differs('ends otherwise', 'check CAMPAIGN_BASE_URL: the interface puts the version there')
      },
    },
    {
      id: 'access.token-expiry',
      text: 'token',
      assumed: 'a JWT with exp',
      judge({ token }) {
        const { exp } = claimsOf(token)
        if (typeof exp !== 'number' || Number.isNaN(new Date(exp * 1_000).getTime())) {
          return cannotTell('it is not a JWT with exp')
        }
        return asAssumed(`it expires at ${new Date(exp * 1_000).toISOString()}`)
      },
    },
  ],
}
