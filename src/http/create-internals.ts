import { TimeoutError } from '../errors.ts'
import type { ClientInternals } from '../shared/client-internals.ts'
import type { CallContext } from './attempt.ts'
import { Failure } from './failure.ts'
import { guardIssues } from './prepare-request.ts'
import { TIMED_OUT } from './timeout.ts'
import { identityOf } from './token.ts'

/** Creates the methods of a client that `bulk` uses. @param current - returns the context of the client */
export const createInternals = (current: () => CallContext): ClientInternals => ({
  async target(operation, signal) {
    const { settings, tokens } = current()
    const context = { operation, outcome: 'not_applied' } as const
    try {
      const token = await tokens.get(settings.totalTimeoutMs, signal)
      return { address: settings.baseUrl, ...identityOf(token) }
    } catch (reason) {
      if (reason instanceof Failure) throw reason.toError(context)
      if (reason !== TIMED_OUT) throw reason
      const timeoutMs = settings.totalTimeoutMs
      const message = `${operation}: the access token source took longer than totalTimeoutMs (${timeoutMs} ms)`
      throw new TimeoutError(message, { ...context, scope: 'total', timeoutMs })
    }
  },
  refusalsOfAward: (award) => guardIssues(current().settings.guard, award),
})
