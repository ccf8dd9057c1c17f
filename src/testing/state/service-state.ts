import type { RecordActionValueRequest } from '../../endpoints/record-action-value.ts'
import type { RewardWalletRequest } from '../../endpoints/reward-wallet.ts'
import { Campaign, type Entry } from './campaign.ts'
import type { CampaignDefinition } from './campaign-definition.ts'
import type { IdGenerator } from './id-generator.ts'
import { type User, UserRegistry } from './user-registry.ts'

/** An award made by `rewardWallet`. */
export interface AwardRecord extends RewardWalletRequest {
  /** Time of the request, in milliseconds since the epoch, by the service's clock. */
  at: number
}

/** A value recorded by `recordActionValue`. */
export interface ValueRecord extends RecordActionValueRequest {
  /** Time of the request, in milliseconds since the epoch, by the service's clock. */
  at: number
}

/** All entries, awards and values, or only the changed ones. */
export interface StateParts {
  /** The campaign of each entry. */
  readonly entries: ReadonlyMap<Entry, Campaign>
  readonly awards: readonly AwardRecord[]
  readonly values: readonly ValueRecord[]
}

/** The campaigns, users, awards and values of the service. */
export class ServiceState {
  readonly campaigns = new Map<string, Campaign>()
  readonly users = new UserRegistry()
  readonly awards: AwardRecord[] = []
  readonly values: ValueRecord[] = []
  /** An ID can be used once in the whole service, not once per campaign (assumed). */
  readonly #usedRewardIds = new Set<string>()
  readonly #ids: IdGenerator
  #changes = noChanges()

  constructor(ids: IdGenerator) {
    this.#ids = ids
  }

  addCampaign(definition: CampaignDefinition): Campaign {
    const campaign: Campaign = new Campaign(definition, (entry) => this.#changes.entries.set(entry, campaign))
    this.campaigns.set(definition.id, campaign)
    return campaign
  }

  /** Returns the user's entry in the campaign. Adds an entry if there is none. */
  enter(
    campaign: Campaign,
    user: User,
    ids: { readonly id?: string | undefined; readonly ref_id?: string | undefined } = {},
  ): Entry {
    const known = campaign.find(user)
    if (known) return known
    return campaign.add(user, { id: ids.id ?? this.#ids.next('entry'), ref_id: ids.ref_id ?? this.#ids.next('ref') })
  }

  isRewardIdUsed(id: string): boolean {
    return this.#usedRewardIds.has(id)
  }

  useRewardId(id: string): void {
    this.#usedRewardIds.add(id)
  }

  award(award: AwardRecord): void {
    this.useRewardId(award.id)
    this.awards.push(award)
    this.#changes.awards.push(award)
  }

  recordValue(value: ValueRecord): void {
    this.values.push(value)
    this.#changes.values.push(value)
  }

  /** Returns everything, oldest first. */
  everything(): StateParts {
    const entries = new Map<Entry, Campaign>()
    for (const campaign of this.campaigns.values()) for (const entry of campaign.entries()) entries.set(entry, campaign)
    return { entries, awards: this.awards, values: this.values }
  }

  /** Returns the changes since the last call. */
  takeChanges(): StateParts {
    const changes = this.#changes
    this.#changes = noChanges()
    return changes
  }
}

const noChanges = () => ({
  entries: new Map<Entry, Campaign>(),
  awards: [] as AwardRecord[],
  values: [] as ValueRecord[],
})
