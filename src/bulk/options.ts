import type { Issue } from '../errors.ts'
import {
  isBoolean,
  isFunction,
  type OptionRule,
  type OptionRules,
  optional,
  signalRule,
  wholeNumber,
} from '../shared/options.ts'
import { hasMethod, typeName } from '../shared/types.ts'
import type { Evidence } from './award/evidence.ts'
import { readOptions } from './invalid-request.ts'
import { type AwardLedger, LEDGER, type SharedLedger } from './ledger/ledger.ts'
import type { AwardProgress } from './report/progress.ts'

/** Options of {@link rewardWallets}. Only `ledger` is needed. */
export interface RewardWalletsOptions extends Evidence {
  /** Records the run: `fileLedger('awards.ledger')`, or one made by `postgresLedger`. */
  ledger: AwardLedger
  /**
   * How many calls are under way at once: 1 to 1 000.
   *
   * @defaultValue 8
   */
  concurrency?: number | undefined
  /**
   * Stops the run: no more awards are sent, calls under way are awaited and recorded, and the run rejects with
   * {@link AwardRunStoppedError}, whose `cause` is the signal's reason.
   */
  signal?: AbortSignal | undefined
  /**
   * Called with the progress of the run, at most ten times a second and once at the end. What it throws is dropped.
   */
  onProgress?: ((progress: AwardProgress) => void) | undefined
  /**
   * Reads all rows into memory first, and sends nothing when one of them is wrong, or contradicts another row or the
   * ledger.
   *
   * @defaultValue false
   */
  strict?: boolean | undefined
  /**
   * Sends rows again that the service rejected in an earlier run, except those with the code `other_amount`.
   *
   * @defaultValue false
   */
  retryRejected?: boolean | undefined
}

/** Options of {@link awardOne}. Only `ledger` is needed. */
export interface AwardOneOptions extends Evidence {
  /** Records the award for all processes: made by `postgresLedger`. */
  ledger: SharedLedger
  /**
   * Sends an award again that the service rejected, unless its code is `other_amount`.
   *
   * @defaultValue false
   */
  retryRejected?: boolean | undefined
}

const isLedger: OptionRule = (value) =>
  typeof value === 'object' && value !== null && LEDGER in value
    ? undefined
    : `must be a ledger, such as fileLedger('awards.ledger'), got ${typeName(value)}`

const isSharedLedger: OptionRule = (value) =>
  isLedger(value) === undefined && (value as AwardLedger).kind === 'shared'
    ? undefined
    : `must be a ledger made by postgresLedger, which processes can share, got ${
        isLedger(value) === undefined ? 'one in a file' : typeName(value)
      }`

const EVIDENCE: OptionRules<Evidence> = { isUsedId: optional(isFunction), confirm: optional(isFunction) }

const REWARD_WALLETS: OptionRules<RewardWalletsOptions> = {
  ...EVIDENCE,
  ledger: isLedger,
  concurrency: optional(wholeNumber(1, 1_000)),
  signal: optional(signalRule),
  onProgress: optional(isFunction),
  strict: optional(isBoolean),
  retryRejected: optional(isBoolean),
}

const AWARD_ONE: OptionRules<AwardOneOptions> = {
  ...EVIDENCE,
  ledger: isSharedLedger,
  retryRejected: optional(isBoolean),
}

/** Reads the arguments. @throws InvalidRequestError when there is no client, or an option is wrong */
export const readRewardWalletsOptions = (client: unknown, options: RewardWalletsOptions): RewardWalletsOptions =>
  readOptions('rewardWallets', options, REWARD_WALLETS, clientProblems(client))

/** Reads the arguments. @throws InvalidRequestError when there is no client, or an option is wrong */
export const readAwardOneOptions = (client: unknown, options: AwardOneOptions): AwardOneOptions =>
  readOptions('awardOne', options, AWARD_ONE, clientProblems(client))

const clientProblems = (client: unknown): Issue[] =>
  hasMethod(client, 'rewardWallet')
    ? []
    : [{ path: ['client'], message: `must have the method rewardWallet, got ${typeName(client)}` }]
