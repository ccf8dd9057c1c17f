import * as z from 'zod/mini'
import { identifier } from '../schemas/fields.ts'
import { openQueryEndpoint } from './endpoint.ts'

/** The arguments of `getInviteCode`. See "GET /code" in docs/the-service.md. */
export interface GetInviteCodeRequest {
  /** The invite code to check. The name of the query parameter is assumed; see `queryNames`. */
  code: string
  /** Campaign ID associated with the code. The name of the query parameter is assumed; see `queryNames`. */
  pid: string
}

/** Schema of {@link GetInviteCodeRequest}. */
export const getInviteCodeRequest = z.object({ code: identifier, pid: identifier })

/** The use of an invite code. See "Invite code" in docs/the-service.md. */
export type InviteCode = {
  /** Accounts that used the code. */
  used_by: string[]
}

/** Schema of {@link InviteCode}. Unknown fields are kept. */
export const inviteCode = z.looseObject({ used_by: z.array(z.string()) })

export default openQueryEndpoint<GetInviteCodeRequest, InviteCode>({
  method: 'GET',
  path: 'code',
  request: getInviteCodeRequest,
  response: inviteCode,
  retry: 'safe',
  assumedQueryNames: ['code', 'pid'],
})
