import type { ClientInternals } from '../shared/client-internals.ts'
import type { CallContext } from './attempt.ts'
import { Failure, noTokenInTime } from './failure.ts'
import { guardIssues } from './prepare-request.ts'
import { TIMED_OUT } from './timeout.ts'
import { identityOf } from './token.ts'

/** Creates the methods of a client that `bulk` uses. @param current - returns the context of the client */
export const createInternals = (current: () => CallContext): ClientInternals => ({
  async target(operation, signal) {
    const { settings, tokens } = current()
    try {
      const token = await tokens.get(settings.totalTimeoutMs, signal)
      return { address: settings.baseUrl, ...identityOf(token) }
    } catch (thrown) {
      const reason = thrown === TIMED_OUT ? noTokenInTime(settings.totalTimeoutMs) : thrown
      throw reason instanceof Failure ? reason.toError({ operation, outcome: 'not_applied' }) : reason
    }
  },
  refusalsOfAward: (award) => guardIssues(current().settings.guard, award),
})
