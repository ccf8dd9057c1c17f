import { resolve } from 'node:path'
import { CampaignError, ConfigurationError } from '../../../errors.ts'
import { invalidRequest } from '../../invalid-request.ts'

/** What the machine lacks for a while, and what is not the ledger's fault. */
const OUT_OF_ORDER: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE'])

/** The error for a ledger that can't be opened: names the file, says why and what to do. */
export function unusable(path: string, reason: unknown): unknown {
  if (reason instanceof CampaignError) return reason
  if (!(reason instanceof Error) || OUT_OF_ORDER.has((reason as NodeJS.ErrnoException).code)) return reason
  return new ConfigurationError(`The ledger ${path} can't be used: ${reason.message}`, { cause: reason })
}

/** @throws InvalidRequestError when it is no path */
export function absolutePath(operation: string, path: unknown): string {
  if (typeof path === 'string' && path !== '') return resolve(path)
  throw invalidRequest(operation, [{ path: ['path'], message: 'must be a non-empty string' }])
}
