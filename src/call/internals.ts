import type { ClientInternals } from '../shared/client-internals.ts'
import { identityOf } from '../shared/jwt.ts'
import type { CallContext } from './call.ts'
import { Failure } from './failure.ts'
import { guardIssues } from './request.ts'

/** Creates the methods of a client that `bulk` uses. */
export const createInternals = ({ settings, tokens }: CallContext): ClientInternals => ({
  async target(operation, signal) {
    const token = await tokens.get(operation, { totalTimeoutMs: settings.totalTimeoutMs, signal })
    if (token instanceof Failure) throw Object.assign(token.error, { attempts: 0, outcome: 'not_applied' })
    return { address: settings.baseUrl, ...identityOf(token) }
  },
  maxRetries: settings.maxRetries,
  refusalsOfAward: (award) => guardIssues(settings.guard, award),
})
