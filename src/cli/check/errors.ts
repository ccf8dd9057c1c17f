import { randomUUID } from 'node:crypto'
import { isReply, type Outcome } from './probe.ts'
import { asAssumed, type Check, differs, errorDetail, type Finding, type Group, noData } from './question.ts'

/** Headers by which services name a request or a limit. */
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

const withoutArgument = new WeakMap<Check, Outcome>()
const unknownCampaign = new WeakMap<Check, Outcome>()

/** Judges an error response by its status and form. */
function judgeError(outcome: Outcome | undefined, statuses: readonly number[]): Finding {
  if (!isReply(outcome)) return noData(outcome)
  const { status, body } = outcome
  const detail = errorDetail(outcome)
  if (statuses.includes(status) && body.kind === 'error' && body.form === 'standard') {
    return { ...asAssumed(statuses.length > 1 ? `HTTP ${status}` : undefined), detail }
  }
  const form = body.kind === 'data' ? 'data' : body.form
  return differs(`HTTP ${status}, ${form}`, 'handle the error by its class, which follows from the HTTP status', detail)
}

export const errors: Group = {
  title: 'errors',
  questions: [
    {
      id: 'errors.missing-argument',
      text: 'error for a missing argument',
      assumed: 'HTTP 400, standard',
      async ask(check) {
        withoutArgument.set(check, await check.probe.get('user/progress', { pid: check.args.pid }))
      },
      judge: (check) => judgeError(withoutArgument.get(check), [400]),
    },
    {
      id: 'errors.unknown-campaign',
      text: 'error for an unknown campaign',
      assumed: 'HTTP 400 or 403, standard',
      needs: ['account', 'platform'],
      async ask(check) {
        unknownCampaign.set(check, await check.send('getUserProgress', {}, { pid: `none-${randomUUID()}` }))
      },
      judge: (check) => judgeError(unknownCampaign.get(check), [400, 403]),
    },
    {
      id: 'errors.headers',
      text: 'headers that name a request or a limit',
      assumed: 'none',
      judge({ firstReply }) {
        if (firstReply === undefined) return noData(undefined)
        const paths = HEADERS.filter((name) => firstReply.header(name) !== null)
        if (paths.length === 0) return asAssumed()
        return differs(paths.join(', '), 'log them: they help the operator to find a request', { paths })
      },
    },
  ],
}
