import * as z from 'zod/mini'
import { identifier } from '../schemas/fields.ts'
import { openQueryEndpoint } from './endpoint.ts'

/**
 * The arguments of `getCampaignPoints`.
 * See "GET /campaign/points" in docs/the-service.md.
 */
export interface GetCampaignPointsRequest {
  /** Campaign ID. The name of the query parameter is assumed; see `queryNames`. */
  pid: string
}

/** Schema of {@link GetCampaignPointsRequest}. */
export const getCampaignPointsRequest = z.object({ pid: identifier })

/** A season of a campaign. See "Campaign points" in docs/the-service.md. */
export type CampaignSeason = {
  /** Display name of the season. */
  name: string
  /** XP at which the season ends. */
  max_xp: number
}

/** The point totals of a campaign. See "Campaign points" in docs/the-service.md. */
export type CampaignPoints = {
  /** Campaign ID. */
  id: string
  /** Display name of the campaign. */
  name: string
  /** All points ever earned in the campaign. */
  total_points: number
  /** Points earned in the current season. */
  season_points: number
  /** Index of the current season. */
  season_index: number
  /** The current season. */
  season: CampaignSeason
}

/** Schema of {@link CampaignSeason}. Unknown fields are kept. */
export const campaignSeason = z.looseObject({ name: z.string(), max_xp: z.number() })

/** Schema of {@link CampaignPoints}. Unknown fields are kept. */
export const campaignPoints = z.looseObject({
  id: z.string(),
  name: z.string(),
  total_points: z.number(),
  season_points: z.number(),
  season_index: z.number(),
  season: campaignSeason,
})

export default openQueryEndpoint<GetCampaignPointsRequest, CampaignPoints>({
  method: 'GET',
  path: 'campaign/points',
  request: getCampaignPointsRequest,
  response: campaignPoints,
  retry: 'safe',
  assumedQueryNames: ['pid'],
})
