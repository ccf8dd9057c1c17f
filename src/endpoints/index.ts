import type { Endpoint } from './endpoint.ts'
import getCampaignInfo from './get-campaign-info.ts'
import getCampaignPoints from './get-campaign-points.ts'
import getInviteCode from './get-invite-code.ts'
import getUserProfiles from './get-user-profiles.ts'
import getUserProgress from './get-user-progress.ts'
import recordActionValue from './record-action-value.ts'
import registerWebhook from './register-webhook.ts'
import rewardWallet from './reward-wallet.ts'
import setReferrer from './set-referrer.ts'
import setReferrerByRefId from './set-referrer-by-ref-id.ts'
import updateUser from './update-user.ts'

/** The catalogue: every operation of the service, once, in the order of the interface. */
export const endpoints = {
  getUserProgress,
  rewardWallet,
  setReferrer,
  updateUser,
  setReferrerByRefId,
  recordActionValue,
  getCampaignInfo,
  getCampaignPoints,
  getUserProfiles,
  getInviteCode,
  registerWebhook,
} as const

/** The catalogue of the service's operations. */
export type Endpoints = typeof endpoints

/** An entry of the catalogue, whichever. */
export type AnyEndpoint = Endpoints[OperationName]

/** The name of an operation, which is the name of its method on `CampaignClient`. */
export type OperationName = keyof Endpoints

/** The operations whose query names the interface leaves open. */
export type OpenQueryOperation = {
  [Name in OperationName]: Endpoints[Name] extends { readonly assumedQueryNames: readonly string[] } ? Name : never
}[OperationName]

/** What an operation takes. */
export type RequestOf<Name extends OperationName> =
  Endpoints[Name] extends Endpoint<infer Request, infer _> ? Request : never

/** What an operation resolves to. */
export type DataOf<Name extends OperationName> = Endpoints[Name] extends Endpoint<infer _, infer Data> ? Data : never
