import * as z from 'zod/mini'
import { type AcceptedData, acceptedData, identifier } from '../schemas/fields.ts'
import { endpoint } from './endpoint.ts'

/** The arguments of `setReferrer`. See "POST /user/referrer" in docs/the-service.md. */
export interface SetReferrerRequest {
  /** Account of the referring user. */
  referrer: string
  /** Account of the referred user, who must have no referrer and no completed tasks. */
  referral: string
  /** Platform of both accounts. */
  platform: string
  /** Campaign ID. */
  pid: string
}

/** Schema of {@link SetReferrerRequest}. The service, not this schema, checks that the two accounts differ. */
export const setReferrerRequest = z.object({
  referrer: identifier,
  referral: identifier,
  platform: identifier,
  pid: identifier,
})

export default endpoint<SetReferrerRequest, AcceptedData>({
  method: 'POST',
  path: 'user/referrer',
  request: setReferrerRequest,
  response: acceptedData,
  retry: 'guarded',
})
