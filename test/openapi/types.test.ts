import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { complaintsOf } from '../docs/compile-snippets.ts'
import { rootPath } from '../docs/snippet.ts'
import { skipsWithout } from '../machine/skips-without.ts'
import { documentPath, missingTools, openapiTypescript } from './tools.ts'

/** The types that openapi-typescript makes of the document, held against ours in both directions. */
const comparison = `
import type * as ours from 'campaign-client'
import type { components, operations } from './theirs.ts'

type Theirs = components['schemas']
/** Fields we don't know: the document allows them, an interface of ours does not list them. */
type Listed<T> = T extends string | number | boolean | null | undefined ? T
  : T extends readonly (infer Item)[] ? Listed<Item>[]
  : T extends object ? { [Key in keyof T as string extends Key ? never : Key]: Listed<T[Key]> }
  : T
type Same<One, Other> = [Listed<One>] extends [Listed<Other>] ? ([Listed<Other>] extends [Listed<One>] ? true : 'ours is wider') : 'ours is narrower'
type Numeric = 'xp_mul' | 'ref_xp'
/** Definitions travel with numeric strings, which we read as numbers. */
type Travelling<T> = { [Key in keyof T]: Key extends Numeric ? number | string : T[Key] }
type Body<Name extends keyof operations> = operations[Name] extends { requestBody: { content: { 'application/json': infer Content } } } ? Content : never
type Query<Name extends keyof operations> = operations[Name] extends { parameters: { query: infer Parameters } } ? Parameters : never

export const same: {
  UserProgress: Same<Theirs['UserProgress'], ours.UserProgress>
  TaskEntry: Same<Theirs['TaskEntry'], ours.TaskEntry>
  QuestEntry: Same<Theirs['QuestEntry'], ours.QuestEntry>
  ChallengeEntry: Same<Theirs['ChallengeEntry'], ours.ChallengeEntry>
  RewardEntry: Same<Theirs['RewardEntry'], ours.RewardEntry>
  TaskDefinition: Same<Theirs['TaskDefinition'], Travelling<ours.TaskDefinition>>
  QuestDefinition: Same<Theirs['QuestDefinition'], Travelling<ours.QuestDefinition>>
  CampaignPoints: Same<Theirs['CampaignPoints'], ours.CampaignPoints>
  UserProfiles: Same<Theirs['UserProfiles'], ours.UserProfiles>
  InviteCode: Same<Theirs['InviteCode'], ours.InviteCode>
  rewardWallet: Same<Body<'rewardWallet'>, ours.RewardWalletRequest>
  setReferrer: Same<Body<'setReferrer'>, ours.SetReferrerRequest>
  updateUser: Same<Body<'updateUser'>, ours.UpdateUserRequest>
  setReferrerByRefId: Same<Body<'setReferrerByRefId'>, ours.SetReferrerByRefIdRequest>
  recordActionValue: Same<Body<'recordActionValue'>, ours.RecordActionValueRequest>
  registerWebhook: Same<Body<'registerWebhook'>, ours.WebhookRegistration>
  getUserProgress: Same<Query<'getUserProgress'>, ours.GetUserProgressRequest>
  getCampaignInfo: Same<Query<'getCampaignInfo'>, ours.GetCampaignInfoRequest>
  getCampaignPoints: Same<Query<'getCampaignPoints'>, ours.GetCampaignPointsRequest>
  getUserProfiles: Same<Query<'getUserProfiles'>, ours.GetUserProfilesRequest>
  getInviteCode: Same<Query<'getInviteCode'>, ours.GetInviteCodeRequest>
  ActionCompletedMessage: Same<Theirs['ActionCompletedMessage'], ours.ActionCompletedEvent['payload']>
} = {
  UserProgress: true, TaskEntry: true, QuestEntry: true, ChallengeEntry: true, RewardEntry: true, TaskDefinition: true,
  QuestDefinition: true, CampaignPoints: true, UserProfiles: true, InviteCode: true, rewardWallet: true,
  setReferrer: true, updateUser: true, setReferrerByRefId: true, recordActionValue: true, registerWebhook: true,
  getUserProgress: true, getCampaignInfo: true, getCampaignPoints: true, getUserProfiles: true, getInviteCode: true,
  ActionCompletedMessage: true,
}
`

describe.skipIf(skipsWithout('set of OpenAPI tools', missingTools))(
  'the types that others make of the document',
  () => {
    let theirs: string

    beforeAll(async () => {
      const { stdout } = await promisify(execFile)(openapiTypescript, [documentPath])
      theirs = stdout
    }, 60_000)

    const complaints = (types: string) =>
      complaintsOf(
        [
          { path: rootPath('test/openapi/theirs.ts'), source: types, at: 'theirs.ts:1' },
          { path: rootPath('test/openapi/comparison.ts'), source: comparison, at: 'comparison.ts:1' },
        ],
        // Ours say that `undefined` may stand for a field left out; a document about JSON can't.
        { exactOptionalPropertyTypes: false },
      )

    test('are ours', { timeout: 60_000 }, () => {
      expect(complaints(theirs)).toEqual([])
    })

    test('would not be, with one field less', { timeout: 60_000 }, () => {
      const poorer = theirs.replace(/^ *rank: number;$/m, '')
      expect(poorer).not.toBe(theirs)
      expect(complaints(poorer)).not.toEqual([])
    })
  },
)
