import * as z from 'zod/mini'
import { type AcceptedData, acceptedData, identifier, user } from '../schemas/fields.ts'
import { endpoint } from './endpoint.ts'

/** The arguments of `setReferrerByRefId`. See "POST /user/ref_id" in docs/the-service.md. */
export interface SetReferrerByRefIdRequest {
  /** Account of the referred user, who must have no referrer and no completed tasks. */
  account: string
  /** Platform where the account exists. */
  platform: string
  /** Campaign ID. */
  pid: string
  /** Referral link ID. It must exist and belong to another user. */
  ref_id: string
}

/** Schema of {@link SetReferrerByRefIdRequest}. */
export const setReferrerByRefIdRequest = z.object({ ...user, ref_id: identifier })

export default endpoint<SetReferrerByRefIdRequest, AcceptedData>({
  method: 'POST',
  path: 'user/ref_id',
  request: setReferrerByRefIdRequest,
  response: acceptedData,
  retry: 'guarded',
})
