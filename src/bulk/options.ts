import type { Issue } from '../errors/client-errors.ts'
import { invalidRequestError } from '../errors/invalid-request-error.ts'
import {
  copyOfOptions,
  mustBeBoolean,
  mustBeFunction,
  mustBeSignal,
  type OptionRule,
  type OptionRules,
  optional,
  optionIssues,
  wholeNumber,
} from '../shared/option-checks.ts'
import { hasMethod, typeName } from '../shared/type-checks.ts'
import { type AwardLedger, LEDGER, type SharedLedger } from './ledger/ledger.ts'
import type { ReadingProgress } from './read-progress.ts'
import type { AwardProgress } from './report.ts'
import { issuesOfList } from './rows.ts'
import type { Evidence } from './verdict.ts'

/** Options of {@link rewardWallets}. Only `ledger` is required. */
export interface RewardWalletsOptions extends Evidence {
  /** The ledger that records the run. Create it with `fileLedger` or `postgresLedger`. */
  ledger: AwardLedger
  /**
   * The maximum number of calls in flight: 1 to 1 000.
   *
   * @defaultValue 8
   */
  concurrency?: number | undefined
  /**
   * Stops the run: it sends no more awards, records the calls in flight, and rejects with {@link AwardRunStoppedError}. The
   * `cause` of that error is the signal's reason.
   */
  signal?: AbortSignal | undefined
  /**
   * Called with the progress of the run, at most ten times a second and once at the end. Errors that the callback throws
   * are ignored.
   */
  onProgress?: ((progress: AwardProgress) => void) | undefined
  /**
   * Reads all rows into memory first. Sends nothing if a row is invalid, or if it contradicts another row or the ledger.
   *
   * @defaultValue false
   */
  strict?: boolean | undefined
  /**
   * Retries rows that were `rejected` in an earlier run, except those with the code `other_amount`.
   *
   * @defaultValue false
   */
  retryRejected?: boolean | undefined
}

/** Options of {@link awardOne}. Only `ledger` is required. */
export interface AwardOneOptions extends Evidence {
  /** The ledger that records the award for all processes. Create it with `postgresLedger`. */
  ledger: SharedLedger
  /**
   * Retries an award that was `rejected`, unless its code is `other_amount`.
   *
   * @defaultValue false
   */
  retryRejected?: boolean | undefined
}

/** Options of {@link readProgress}. */
export interface ReadProgressOptions {
  /**
   * The maximum number of calls in flight: 1 to 1 000.
   *
   * @defaultValue 8
   */
  concurrency?: number | undefined
  /** Aborts the calls in flight. The iteration then throws the signal's reason. */
  signal?: AbortSignal | undefined
  /**
   * Called with the progress of the reading, at most ten times a second and once at the end. Errors that the callback throws
   * are ignored.
   */
  onProgress?: ((progress: ReadingProgress) => void) | undefined
}

const isLedger = (value: unknown): value is AwardLedger =>
  typeof value === 'object' && value !== null && LEDGER in value

const mustBeLedger: OptionRule = (value) =>
  isLedger(value) ? undefined : `must be a ledger, such as fileLedger('awards.ledger'), got ${typeName(value)}`

const mustBeSharedLedger: OptionRule = (value) =>
  isLedger(value) && value.kind === 'shared'
    ? undefined
    : `must be a ledger made by postgresLedger, got ${isLedger(value) ? 'a fileLedger' : typeName(value)}`

const EVIDENCE: OptionRules<Evidence> = { isUsedId: optional(mustBeFunction), confirm: optional(mustBeFunction) }

const REWARD_WALLETS: OptionRules<RewardWalletsOptions> = {
  ...EVIDENCE,
  ledger: mustBeLedger,
  concurrency: optional(wholeNumber(1, 1_000)),
  signal: optional(mustBeSignal),
  onProgress: optional(mustBeFunction),
  strict: optional(mustBeBoolean),
  retryRejected: optional(mustBeBoolean),
}

const READ_PROGRESS: OptionRules<ReadProgressOptions> = {
  concurrency: optional(wholeNumber(1, 1_000)),
  signal: optional(mustBeSignal),
  onProgress: optional(mustBeFunction),
}

const AWARD_ONE: OptionRules<AwardOneOptions> = {
  ...EVIDENCE,
  ledger: mustBeSharedLedger,
  retryRejected: optional(mustBeBoolean),
}

/** Copies and checks the options. @throws InvalidRequestError when an argument is wrong */
export const readRewardWalletsOptions = (
  client: unknown,
  rows: unknown,
  options: RewardWalletsOptions,
): RewardWalletsOptions =>
  readOptions('rewardWallets', options, REWARD_WALLETS, [
    ...issuesOfClient(client, 'rewardWallet'),
    ...issuesOfList('rows', rows),
  ])

/** Copies and checks the options. @throws InvalidRequestError when an argument is wrong */
export const readAwardOneOptions = (client: unknown, options: AwardOneOptions): AwardOneOptions =>
  readOptions('awardOne', options, AWARD_ONE, issuesOfClient(client, 'rewardWallet'))

/** Copies and checks the options. @throws InvalidRequestError when an argument is wrong */
export const readReadProgressOptions = (
  client: unknown,
  users: unknown,
  options: ReadProgressOptions,
): ReadProgressOptions =>
  readOptions('readProgress', options, READ_PROGRESS, [
    ...issuesOfClient(client, 'getUserProgress'),
    ...issuesOfList('users', users),
  ])

const issuesOfClient = (client: unknown, method: string): Issue[] =>
  hasMethod(client, method)
    ? []
    : [{ path: ['client'], message: `must have the method ${method}, got ${typeName(client)}` }]

/**
 * Copies and checks an option object.
 *
 * @param otherIssues - issues of the other arguments
 * @throws InvalidRequestError when any argument is wrong
 */
export function readOptions<Options extends object>(
  operation: string,
  options: Options,
  rules: OptionRules<Options>,
  otherIssues: readonly Issue[] = [],
): Options {
  const own = copyOfOptions(options, rules as OptionRules<NonNullable<Options>>)
  const ownIssues = optionIssues(own, rules).map(({ path, message }) => ({ path: ['options', ...path], message }))
  const issues = [...otherIssues, ...ownIssues]
  if (issues.length > 0) throw invalidRequestError(operation, issues)
  return own
}
