/**
 * Awards XP to every wallet of a list once, with a ledger that survives a crash. Node only.
 *
 * @module campaign-client/bulk
 */

export type { Confirmation, Evidence } from './award/judge-refusal.ts'
export type { AwardRow } from './award/row.ts'
export type { AwardFailure, FinalVerdict, Verdict } from './award/verdict.ts'
export { awardOne } from './award-one.ts'
export { AwardRunStoppedError, AwardUnsettledError, type UnsettledReason } from './errors.ts'
export { type FileLedger, type FileLedgerOptions, fileLedger } from './ledger/file/file-ledger.ts'
export type { LedgerWait } from './ledger/file/lock.ts'
export { type LedgerEntries, type LedgerEntry, readLedger } from './ledger/file/read-ledger.ts'
export type { AwardLedger, SharedLedger } from './ledger/ledger.ts'
export type { AwardOneOptions, RewardWalletsOptions } from './options.ts'
export type { AwardProgress } from './report/progress-reporter.ts'
export type { AwardReport, HaltedCampaign, RowProblem } from './report/report.ts'
export type { Countable, PerVerdict } from './report/totals.ts'
export { type RewardIdParts, rewardId } from './reward-id.ts'
export { rewardWallets } from './reward-wallets.ts'
export type { Rows } from './run/row-source.ts'
