/**
 * Awards XP to every wallet of a list once, with a ledger that survives a crash, and reads the progress of many users. Node
 * only.
 *
 * @module campaign-client/bulk
 */

export { AwardRunStoppedError, AwardUnsettledError, type UnsettledReason } from '../errors/bulk-errors.ts'
export type {
  AwardFailure,
  AwardReport,
  Countable,
  FinalVerdict,
  HaltedCampaign,
  PerVerdict,
  RowProblem,
  Verdict,
} from '../schemas/award-report.ts'
export type { Confirmation, Evidence } from './attempt.ts'
export { type AwardOneOptions, awardOne } from './award-one.ts'
export { type ConfirmFromProgressOptions, confirmFromProgress } from './confirm-from-progress.ts'
export {
  type FileLedger,
  type FileLedgerOptions,
  fileLedger,
  type LedgerEntry,
  readLedger,
} from './ledger/file-ledger.ts'
export type { AwardLedger, Rebind, SharedLedger } from './ledger/ledger.ts'
export type { Waiting } from './pacing.ts'
export { type ProgressReading, type ReadingProgress, type ReadProgressOptions, readProgress } from './read-progress.ts'
export type { AwardProgress } from './report.ts'
export { type RewardIdParts, rewardId } from './reward-id.ts'
export type { AwardRow, Rows } from './rows.ts'
export type { AwardClient, RewardWalletsOptions } from './run.ts'
export { rewardWallets } from './run.ts'
