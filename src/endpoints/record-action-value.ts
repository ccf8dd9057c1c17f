import * as z from 'zod/mini'
import { finiteNumber, identifier, user } from '../schemas/fields.ts'
import { endpoint } from './endpoint.ts'

/** The arguments of `recordActionValue`. See "POST /action/value" in docs/the-service.md. */
export interface RecordActionValueRequest {
  /** Account identifier of the user. */
  account: string
  /** Platform where the account exists. */
  platform: string
  /** Campaign ID. */
  pid: string
  /** Quest ID within the campaign. */
  cid: string
  /** ID of the task to record the value for. */
  aid: string
  /** The value to record. */
  value: number
}

/** Schema of {@link RecordActionValueRequest}. */
export const recordActionValueRequest = z.object({ ...user, cid: identifier, aid: identifier, value: finiteNumber })

export default endpoint<RecordActionValueRequest, void>({
  method: 'POST',
  path: 'action/value',
  request: recordActionValueRequest,
  response: undefined,
  retry: 'unsafe',
})
