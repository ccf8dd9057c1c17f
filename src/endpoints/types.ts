// Written by `npm run generate endpoint-exports` from the files in src/endpoints.
export type { CampaignInfo, GetCampaignInfoRequest, QuestDefinition, TaskDefinition } from './get-campaign-info.ts'
export type { CampaignPoints, CampaignSeason, GetCampaignPointsRequest } from './get-campaign-points.ts'
export type { GetInviteCodeRequest, InviteCode } from './get-invite-code.ts'
export type { GetUserProfilesRequest, LinkedProfile, UserProfiles } from './get-user-profiles.ts'
export type {
  ChallengeEntry,
  CompletionStatus,
  GetUserProgressRequest,
  QuestEntry,
  RewardEntry,
  TaskEntry,
  UserProgress,
} from './get-user-progress.ts'
export type { RecordActionValueRequest } from './record-action-value.ts'
export type { WebhookRegistration, WebhookScope } from './register-webhook.ts'
export type { RewardWalletRequest } from './reward-wallet.ts'
export type { SetReferrerRequest } from './set-referrer.ts'
export type { SetReferrerByRefIdRequest } from './set-referrer-by-ref-id.ts'
export type { UpdateUserRequest } from './update-user.ts'
