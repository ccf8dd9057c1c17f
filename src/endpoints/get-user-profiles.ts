import * as z from 'zod/mini'
import { user } from '../schemas/fields.ts'
import { openQueryEndpoint } from './endpoint.ts'

/** The arguments of `getUserProfiles`. See "GET /user/profiles" in docs/the-service.md. */
export interface GetUserProfilesRequest {
  /** Account identifier of the user. The name of the query parameter is assumed; see `queryNames`. */
  account: string
  /** Platform where the account exists. The name of the query parameter is assumed; see `queryNames`. */
  platform: string
  /** Campaign ID. The name of the query parameter is assumed; see `queryNames`. */
  pid: string
}

/** Schema of {@link GetUserProfilesRequest}. */
export const getUserProfilesRequest = z.object(user)

/** One linked profile of a user. See "User profiles" in docs/the-service.md. */
export type LinkedProfile = {
  /** Account identifier on the platform. */
  account: string
  /** The platform the account belongs to. */
  platform: string
}

/**
 * The linked profiles of a user and the user's totals.
 * See "User profiles" in docs/the-service.md.
 */
export type UserProfiles = {
  /** The user's account identifier. */
  user_id: string
  /** Base XP from tasks and activities. */
  xp: number
  /** XP from referrals. */
  ref_xp: number
  /** XP from user-generated content. */
  ugc_xp: number
  /** Not explained by the API description. */
  refs: number
  /** Not explained by the API description. */
  ref_count: number
  /** The accounts linked to the user. */
  profiles: LinkedProfile[]
}

/** Schema of {@link LinkedProfile}. Unknown fields are kept. */
export const linkedProfile = z.looseObject({ account: z.string(), platform: z.string() })

/** Schema of {@link UserProfiles}. Unknown fields are kept. */
export const userProfiles = z.looseObject({
  user_id: z.string(),
  xp: z.number(),
  ref_xp: z.number(),
  ugc_xp: z.number(),
  refs: z.number(),
  ref_count: z.number(),
  profiles: z.array(linkedProfile),
})

export default openQueryEndpoint<GetUserProfilesRequest, UserProfiles>({
  method: 'GET',
  path: 'user/profiles',
  request: getUserProfilesRequest,
  response: userProfiles,
  retry: 'safe',
  assumedQueryNames: ['account', 'platform', 'pid'],
})
