import { randomUUID } from 'node:crypto'
import { isReply, type Outcome } from '../probe.ts'
import { asAssumed, type CheckFinding, describeReply, detailOf, differs, noData, type Question } from '../question.ts'

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
