import * as z from 'zod/mini'
import { type AcceptedData, acceptedData, user } from '../schemas/fields.ts'
import { endpoint } from './endpoint.ts'

/**
 * The arguments of `updateUser`. `undefined` fields are not sent.
 * See "POST /user" in docs/the-service.md.
 */
export interface UpdateUserRequest {
  /** Account identifier of the user. */
  account: string
  /** Platform where the account exists. */
  platform: string
  /** Campaign ID. */
  pid: string
  /** New display name. */
  name?: string | undefined
  /** New alias. */
  alias?: string | undefined
  /** New team. In `UserProgress`, an empty string means no team. */
  team?: string | undefined
}

const optionalText = z.optional(z.string())

/** Schema of {@link UpdateUserRequest}. */
export const updateUserRequest = z.object({ ...user, name: optionalText, alias: optionalText, team: optionalText })

export default endpoint<UpdateUserRequest, AcceptedData>({
  method: 'POST',
  path: 'user',
  request: updateUserRequest,
  response: acceptedData,
  retry: 'safe',
})
