import type { ClientInternals } from '../shared/client-internals.ts'
import { identityOf } from '../shared/jwt.ts'
import type { CallContext } from './call.ts'
import { Failure } from './failure.ts'
import { guardIssues } from './request.ts'

/** Creates the methods of a client that `bulk` uses. @param current - returns the context of the client */
export const createInternals = (current: () => CallContext): ClientInternals => ({
  async target(operation, signal) {
    const { settings, tokens } = current()
    const token = await tokens.get(operation, { totalTimeoutMs: settings.totalTimeoutMs, signal })
    if (token instanceof Failure) throw Object.assign(token.error, { attempts: 0, outcome: 'not_applied' })
    return { address: settings.baseUrl, ...identityOf(token) }
  },
  get maxRetries() {
    return current().settings.maxRetries
  },
  refusalsOfAward: (award) => guardIssues(current().settings.guard, award),
})
