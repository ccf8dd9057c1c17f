import type * as campaign from 'campaign-client'

/** The type of every schema, by the name of the schema. */
export interface TypeBySchema {
  campaignInfo: campaign.CampaignInfo
  getCampaignInfoRequest: campaign.GetCampaignInfoRequest
  questDefinition: campaign.QuestDefinition
  taskDefinition: campaign.TaskDefinition
  campaignPoints: campaign.CampaignPoints
  campaignSeason: campaign.CampaignSeason
  getCampaignPointsRequest: campaign.GetCampaignPointsRequest
  getInviteCodeRequest: campaign.GetInviteCodeRequest
  inviteCode: campaign.InviteCode
  getUserProfilesRequest: campaign.GetUserProfilesRequest
  linkedProfile: campaign.LinkedProfile
  userProfiles: campaign.UserProfiles
  challengeEntry: campaign.ChallengeEntry
  getUserProgressRequest: campaign.GetUserProgressRequest
  questEntry: campaign.QuestEntry
  rewardEntry: campaign.RewardEntry
  taskEntry: campaign.TaskEntry
  userProgress: campaign.UserProgress
  recordActionValueRequest: campaign.RecordActionValueRequest
  webhookRegistration: campaign.WebhookRegistration
  rewardWalletRequest: campaign.RewardWalletRequest
  setReferrerRequest: campaign.SetReferrerRequest
  setReferrerByRefIdRequest: campaign.SetReferrerByRefIdRequest
  updateUserRequest: campaign.UpdateUserRequest
}
