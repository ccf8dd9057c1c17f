import type { $ZodType } from 'zod/v4/core'
import { type AcceptedData, acceptedData } from './schemas/accepted.ts'
import { type CampaignInfo, campaignInfo } from './schemas/campaign-info.ts'
import { type CampaignPoints, campaignPoints } from './schemas/campaign-points.ts'
import { type InviteCode, inviteCode } from './schemas/invite-code.ts'
import * as request from './schemas/requests.ts'
import { type UserProfiles, userProfiles } from './schemas/user-profiles.ts'
import { type UserProgress, userProgress } from './schemas/user-progress.ts'
import { type WebhookRegistration, webhookRegistration } from './schemas/webhook-registration.ts'

/**
 * What a repeat of a call does.
 * - `safe`: the same final state, however often.
 * - `guarded`: the service itself refuses to do it twice.
 * - `unsafe`: it would count twice.
 */
export type RepeatRule = 'safe' | 'guarded' | 'unsafe'

/** One operation of the service. */
export interface Endpoint<Request = unknown, Data = unknown> {
  readonly method: 'GET' | 'POST'
  /** Path below the base URL. `undefined` where the interface shows none. */
  readonly path: string | undefined
  readonly request: $ZodType<Request>
  /** Shape of the envelope's `data`; `undefined` where the answer carries none, `'any'` where it is not shown. */
  readonly response: $ZodType<Data, unknown> | 'any' | undefined
  readonly repeat: RepeatRule
  /** The arguments whose query names the interface leaves open. Their own names are assumed, and may be renamed. */
  readonly assumedQueryNames?: readonly Extract<keyof Request, string>[]
}

const endpoint = <Request, Data>(definition: Endpoint<Request, Data>): Endpoint<Request, Data> => definition

/** The catalogue: every operation of the service, once. */
export const endpoints = {
  getUserProgress: endpoint<request.GetUserProgressRequest, UserProgress>({
    method: 'GET',
    path: 'user/progress',
    request: request.getUserProgressRequest,
    response: userProgress,
    repeat: 'safe',
  }),
  rewardWallet: endpoint<request.RewardWalletRequest, void>({
    method: 'POST',
    path: 'wallet/reward',
    request: request.rewardWalletRequest,
    response: undefined,
    repeat: 'guarded',
  }),
  setReferrer: endpoint<request.SetReferrerRequest, AcceptedData>({
    method: 'POST',
    path: 'user/referrer',
    request: request.setReferrerRequest,
    response: acceptedData,
    repeat: 'guarded',
  }),
  updateUser: endpoint<request.UpdateUserRequest, AcceptedData>({
    method: 'POST',
    path: 'user',
    request: request.updateUserRequest,
    response: acceptedData,
    repeat: 'safe',
  }),
  setReferrerByRefId: endpoint<request.SetReferrerByRefIdRequest, AcceptedData>({
    method: 'POST',
    path: 'user/ref_id',
    request: request.setReferrerByRefIdRequest,
    response: acceptedData,
    repeat: 'guarded',
  }),
  recordActionValue: endpoint<request.RecordActionValueRequest, void>({
    method: 'POST',
    path: 'action/value',
    request: request.recordActionValueRequest,
    response: undefined,
    repeat: 'unsafe',
  }),
  getCampaignInfo: endpoint<request.GetCampaignInfoRequest, CampaignInfo>({
    method: 'GET',
    path: 'campaign/info',
    request: request.getCampaignInfoRequest,
    response: campaignInfo,
    repeat: 'safe',
    assumedQueryNames: ['pid'],
  }),
  getCampaignPoints: endpoint<request.GetCampaignPointsRequest, CampaignPoints>({
    method: 'GET',
    path: 'campaign/points',
    request: request.getCampaignPointsRequest,
    response: campaignPoints,
    repeat: 'safe',
    assumedQueryNames: ['pid'],
  }),
  getUserProfiles: endpoint<request.GetUserProfilesRequest, UserProfiles>({
    method: 'GET',
    path: 'user/profiles',
    request: request.getUserProfilesRequest,
    response: userProfiles,
    repeat: 'safe',
    assumedQueryNames: ['account', 'platform', 'pid'],
  }),
  getInviteCode: endpoint<request.GetInviteCodeRequest, InviteCode>({
    method: 'GET',
    path: 'code',
    request: request.getInviteCodeRequest,
    response: inviteCode,
    repeat: 'safe',
    assumedQueryNames: ['code', 'pid'],
  }),
  registerWebhook: endpoint<WebhookRegistration, unknown>({
    method: 'POST',
    path: undefined,
    request: webhookRegistration,
    response: 'any',
    repeat: 'unsafe',
  }),
} as const

/** The catalogue of the service's operations. */
export type Endpoints = typeof endpoints

/** An entry of the catalogue, whichever. */
export type AnyEndpoint = Endpoints[OperationName]

/** The name of an operation, which is the name of its method on `CampaignClient`. */
export type OperationName = keyof Endpoints

/** The operations whose query names the interface leaves open. */
export type OpenQueryOperation = 'getCampaignInfo' | 'getCampaignPoints' | 'getUserProfiles' | 'getInviteCode'

/** What an operation takes. */
export type RequestOf<Name extends OperationName> =
  Endpoints[Name] extends Endpoint<infer Request, infer _> ? Request : never

/** What an operation resolves to. */
export type DataOf<Name extends OperationName> = Endpoints[Name] extends Endpoint<infer _, infer Data> ? Data : never
