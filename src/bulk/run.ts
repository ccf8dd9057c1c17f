import { setMaxListeners } from 'node:events'
import type { CampaignClient } from '../client.ts'
import { AwardRunStoppedError, withCause, withParts } from '../errors/bulk-errors.ts'
import { ApiError, type CampaignError, ConfigurationError } from '../errors/client-errors.ts'
import {
  invalidRequestError,
  mustBeBoolean,
  mustBeFunction,
  mustBeSignal,
  type OptionRules,
  optional,
  readOptions,
} from '../errors/option-checks.ts'
import type { AwardReport } from '../schemas/award-report.ts'
import { isAwarded, isFinal, isUsedBefore } from '../shared/award.ts'
import { type ClientTarget, clientInternals, optionsFor, PACED_OPTIONS } from '../shared/client-internals.ts'
import type { Issue } from '../shared/issue.ts'
import { toJsonLine } from '../shared/text.ts'
import { onAbort, sleep, startTimer } from '../shared/timers.ts'
import {
  type AttemptEnd,
  type Attempted,
  type CallOutcome,
  type Confirmation,
  confirmAward,
  EVIDENCE_RULES,
  type Evidence,
  type Judge,
  judgeOutcome,
  recordAttempt,
  retryableVerdicts,
  sendAward,
  statusOf,
} from './attempt.ts'
import { confirmOf, type ReadAward, readerOf } from './confirm-from-progress.ts'
import type { AwardResult, RetryableVerdicts } from './ledger/award-state.ts'
import { type Attempt, type AwardLedger, LEDGER, type LedgerSession, mustBeLedger } from './ledger/ledger.ts'
import { DEFAULT_CONCURRENCY, DEFAULT_PATIENCE_MS, mustBeConcurrency, mustBePatience, Pacer } from './pacing.ts'
import { type AwardProgress, ProgressReporter, RunReport } from './report.ts'
import {
  type AwardRow,
  type CheckedRow,
  checkRow,
  conflictIssues,
  issuesOfClient,
  issuesOfList,
  lengthOf,
  type Rows,
  readList,
  requireArguments,
} from './rows.ts'
import { SeenRows } from './seen-rows.ts'

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
   * Called with the progress of the run, at most ten times a second, every second while the run waits, and once at the end.
   * Errors that the callback throws are ignored.
   */
  onProgress?: ((progress: AwardProgress) => void) | undefined
  /**
   * How long the run waits for a service that stops responding, or responds only with 429, in milliseconds: 0 to 24 hours. The
   * time that a `Retry-After` asks for does not count. The run always waits for at least three pauses, about two seconds. If
   * the service has not responded at all by then, the run stops. At its end, the run sends awards with an unknown outcome again
   * for at most `patienceMs`.
   *
   * @defaultValue 120 000
   */
  patienceMs?: number | undefined
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

/** A client that makes awards. With `getUserProgress`, it can also find them in the user's progress. */
export type AwardClient = Pick<CampaignClient, 'rewardWallet'> & Partial<Pick<CampaignClient, 'getUserProgress'>>

const OPTIONS: OptionRules<RewardWalletsOptions> = {
  ...EVIDENCE_RULES,
  ledger: mustBeLedger,
  concurrency: mustBeConcurrency,
  signal: optional(mustBeSignal),
  onProgress: optional(mustBeFunction),
  patienceMs: mustBePatience,
  strict: optional(mustBeBoolean),
  retryRejected: optional(mustBeBoolean),
}

/**
 * Makes every award of a list once. After a stop or a crash, run the same list again with the same ledger to continue.
 *
 * Each row is written to the ledger before its request is sent, and its verdict afterwards. The service accepts each `id`
 * once, so an award with an unknown outcome is sent again with the same id. If the service then refuses the id, the ledger
 * shows that the first attempt may have succeeded. Derive the ids with {@link rewardId}.
 *
 * - A row that is invalid, or that the client's `guard` forbids, is counted as `rejected`, listed in `problems` and never
 *   sent. A corrected row is sent in the next run.
 * - A row that occurs twice is sent once.
 * - After a 403 or 404, the other rows of that campaign are not sent, and `complete` is false. Other campaigns continue.
 * - The run retries a row after a 429, and when its request could not be sent. At its end, it sends awards with an unknown
 *   outcome again, at most twice, unless the client has `maxRetries: 0`.
 * - If the service refuses an id, the run reads the wallet's progress, to find out whether the award was made: see `confirm`.
 *
 * See "POST /wallet/reward" in docs/the-service.md.
 *
 * @param client - makes the awards with `rewardWallet`, and reads progress with `getUserProgress` if it has it. The client's
 *   time limits, retries and guard apply. The ledger records the base URL of a `CampaignClient`, and the issuer and subject
 *   of its token. It refuses a client with other values
 * @param rows - the awards: any iterable or async iterable. It is read only as fast as the awards are sent
 * @param options - the ledger, the concurrency and callbacks
 * @returns the number of rows per verdict, and the problems. If `complete` is false, run the list again
 * @throws InvalidRequestError when an argument is wrong: a client without `rewardWallet`, rows that can't be iterated
 * @throws ConfigurationError when an option is wrong or misspelt, or the ledger can't be used: it belongs to another run,
 *   service, token or version, it is damaged or not writable, or another run is using it
 * @throws AwardRunStoppedError when the run stopped before its last row, for instance after an abort, a 401, twenty equal
 *   refusals before any success, an error of the ledger or the list, or because the service can't be reached. The `report`
 *   of the error counts the rows that were finished
 *
 * @example
 * ```ts
 * const report = await rewardWallets(client, rows, { ledger: fileLedger('awards.ledger') })
 * console.log(report.counts.awarded, report.complete)
 * ```
 */
export async function rewardWallets(
  client: AwardClient,
  rows: Rows<AwardRow>,
  options: RewardWalletsOptions,
): Promise<AwardReport> {
  const own = readOptions('rewardWallets', options, OPTIONS)
  requireArguments('rewardWallets', [...issuesOfClient(client, 'rewardWallet'), ...issuesOfList('rows', rows)])
  const { ledger, signal } = own
  const report = new RunReport()
  let target: ClientTarget | undefined
  let session: LedgerSession
  try {
    signal?.throwIfAborted()
    target = await clientInternals(client)?.target('rewardWallets', signal)
    session = await ledger[LEDGER].open(target)
  } catch (error) {
    if (signal?.aborted) throw stoppedError(report, ABORTED, signal.reason)
    if (error instanceof ConfigurationError) throw error
    throw stoppedError(report, 'the run could not start', error)
  }
  return new Run(client, target, session, rows, report, own).send()
}

/** The number of workers per concurrent call: while one worker waits for the service, another can write to the ledger. */
const WORKERS_PER_CALL = 2
/** The longest wait before the run checks again whether another process has finished an award. */
const MAX_BUSY_MS = 250
/** The time limit of `confirm` after a stop. */
const MAX_CONFIRM_MS = 10_000
/** The run stops after this many equal refusals before any success: the list, the campaign or the token must be wrong. */
const MAX_REFUSALS = 20
/** The run stops after this many consecutive responses that leave the outcome of the award unknown. */
const MAX_UNKNOWN = 100
/** At its end, a run sends an award with an unknown outcome again at most this many times. */
const MAX_RESENDS = 2
/** The number of rows that are kept in memory to be sent again. */
const MAX_UNKNOWN_ROWS = 100_000

const ABORTED = 'the signal was aborted'

const CONTINUE = 'To continue, run it again with the same ledger'
const CORRECT = 'Correct the rows, then run it again'

/** @param advice - what to do, as a sentence without its full stop; empty if the message of the cause says it */
function stoppedError(
  report: RunReport,
  message: string,
  cause: unknown,
  advice: string = CONTINUE,
): AwardRunStoppedError {
  const text = withCause(message, cause)
  const sentences = [`rewardWallets stopped: ${text}`, ...(advice === '' ? [] : [advice])]
  const error = new AwardRunStoppedError(sentences.join('. '), { cause, report: report.build(true) })
  return withParts(error, { text })
}

/** Adds the position of a row to the paths of its issues. */
const issuesOfRow = (index: number, issues: readonly Issue[]): Issue[] =>
  issues.map(({ path, message }) => ({ path: ['rows', index, ...path], message }))

type IndexedRow = CheckedRow & { readonly index: number }

/** A row to award, and its position in the list. */
interface Task {
  readonly index: number
  readonly row: AwardRow
}

/** Sends the rows of one list. */
class Run {
  readonly #client: AwardClient
  /** The options of each call; `undefined` for a client without internals. */
  readonly #callOptions: object | undefined
  readonly #session: LedgerSession
  readonly #rows: AsyncGenerator<IndexedRow, void>
  #total: number | undefined
  readonly #seen = new SeenRows()
  readonly #report: RunReport
  readonly #options: RewardWalletsOptions
  readonly #workers: number
  readonly #patienceMs: number
  readonly #retryable: RetryableVerdicts
  readonly #judge: Judge
  readonly #pacer: Pacer
  readonly #progress: ProgressReporter<Omit<AwardProgress, 'rate' | 'timeLeftMs'>>
  readonly #stopping = new AbortController()
  /** Aborted `MAX_CONFIRM_MS` after the stop. */
  readonly #confirmTimeout = new AbortController()
  /** Ends the readings of `confirmFromProgress`: when the caller aborts the run, or with {@link #confirmTimeout}. */
  readonly #readings = new AbortController()
  #confirmTimer: NodeJS.Timeout | undefined
  #stopReason: Readonly<{ message: string; cause: unknown; advice: string | undefined }> | undefined
  #hasSucceeded = false
  readonly #refusals = new Map<string, number>()
  #consecutiveUnknown = 0
  /** Rows that are reported as `indeterminate`, and are sent again at the end. */
  #unknown: Task[] = []
  /** Whether the rows of `#unknown` are sent again now. */
  #isResending = false
  #isResendingOver = false

  constructor(
    client: AwardClient,
    target: ClientTarget | undefined,
    session: LedgerSession,
    rows: Rows<AwardRow>,
    report: RunReport,
    options: RewardWalletsOptions,
  ) {
    const { concurrency = DEFAULT_CONCURRENCY, patienceMs = DEFAULT_PATIENCE_MS } = options
    const { onProgress, isUsedId, retryRejected } = options
    this.#client = client
    this.#callOptions = target && { ...optionsFor(target), ...PACED_OPTIONS }
    this.#session = session
    this.#rows = this.#read(rows)
    this.#report = report
    this.#options = options
    this.#workers = concurrency * WORKERS_PER_CALL
    this.#patienceMs = patienceMs
    const confirm = confirmOf(options.confirm, client)
    this.#judge = { isUsedId, confirm: confirm && ((row) => this.#confirm(confirm, row)) }
    this.#retryable = retryableVerdicts(this.#judge, retryRejected)
    this.#pacer = new Pacer({ concurrency, patienceMs, stopRun: (message, cause) => this.#stop(message, cause) })
    this.#total = lengthOf(rows)
    this.#progress = new ProgressReporter(onProgress, () => ({
      rows: report.rows,
      total: this.#total ?? null,
      counts: report.counts,
      xp: report.xp,
      waiting: this.#pacer.waiting,
    }))
    // A client may add a listener for each reading, and Node warns of more than ten.
    setMaxListeners(0, this.#readings.signal)
  }

  /** Sends the rows, then closes the ledger. @throws AwardRunStoppedError when the run stops before its last row */
  async send(): Promise<AwardReport> {
    const { signal, strict } = this.#options
    const onAborted = (): void => {
      this.#stop(ABORTED, signal?.reason)
      this.#readings.abort(signal?.reason)
    }
    const removeListener = signal && onAbort(signal, onAborted)
    if (signal?.aborted) onAborted()
    const rows = strict ? (await this.#checkAll()).values() : this.#rows
    await this.#work(rows, (row) => this.#award(row))
    await this.#resendUnknown()
    // A pause that the last call started must not keep the process alive.
    this.#pacer.stop()
    await this.#session.close().catch((error: unknown) => this.#ledgerFailed(error))
    clearTimeout(this.#confirmTimer)
    removeListener?.()
    this.#progress.finish()
    if (this.#stopReason === undefined) return this.#report.build(false)
    const { message, cause, advice } = this.#stopReason
    throw stoppedError(this.#report, message, cause, advice)
  }

  /**
   * Sends rows with an unknown outcome again, under the same ids. It ends after `patienceMs`, at the first call without a
   * response, or after `MAX_UNKNOWN` unknown outcomes in a row. The other rows stay `indeterminate`.
   */
  async #resendUnknown(): Promise<void> {
    const mayRetry = clientInternals(this.#client)?.maxRetries !== 0 && this.#patienceMs > 0
    if (!mayRetry || this.#unknown.length === 0 || this.#stopReason !== undefined) return
    this.#isResending = true
    const cancel = startTimer(this.#patienceMs, () => this.#endResending())
    for (let nth = 0; nth < MAX_RESENDS; nth++) {
      const tasks = this.#unknown
      this.#unknown = []
      await this.#work(tasks.values(), (task) => this.#send(task))
    }
    cancel()
  }

  /** Ends the resending of {@link #resendUnknown}. The run is not stopped. */
  #endResending(): void {
    this.#isResendingOver = true
    this.#pacer.stop()
  }

  /** Stops the run: only the attempts in progress are finished. Keeps the reason of the first call. */
  #stop(message: string, cause: unknown, advice?: string): void {
    if (this.#stopReason !== undefined) return
    this.#stopReason = { message, cause, advice }
    this.#stopping.abort()
    this.#pacer.stop()
    this.#confirmTimer = setTimeout(() => {
      this.#confirmTimeout.abort()
      this.#readings.abort(new Error('the run has stopped'))
    }, MAX_CONFIRM_MS)
  }

  /** Stops the run. The message of a `ConfigurationError` already says what to do. */
  #ledgerFailed(error: unknown): void {
    this.#stop('the ledger failed', error, error instanceof ConfigurationError ? '' : undefined)
  }

  async *#read(list: Rows<AwardRow>): AsyncGenerator<IndexedRow, void> {
    const client = clientInternals(this.#client)
    const read = (row: unknown): IndexedRow => ({ index: this.#report.rows++, ...checkRow(row, client) })
    yield* readList(list, read, this.#stopping.signal, { operation: 'rewardWallets', argument: 'rows' })
    if (!this.#stopping.signal.aborted) this.#total = this.#report.rows
  }

  /**
   * Reads all rows, and compares them with one another and with the ledger. Stops the run if one of them is invalid.
   *
   * @returns the rows to send
   */
  async #checkAll(): Promise<readonly IndexedRow[]> {
    const rows: IndexedRow[] = []
    const problems: Issue[] = []
    const byId = new Map<string, AwardRow>()
    try {
      for await (const checked of this.#rows) {
        rows.push(checked)
        const issues = checked.ok ? await this.#conflictsOf(checked.row, byId) : checked.issues
        if (issues.length === 0) continue
        problems.push(...issuesOfRow(checked.index, issues))
        this.#report.addInvalid(checked.index, checked.row, issues)
      }
      if (problems.length > 0) {
        const cause = invalidRequestError('rewardWallets', problems, 'nothing was sent')
        this.#stop('some rows are invalid', cause, CORRECT)
      }
    } catch (error) {
      this.#stop('the rows could not be checked', error)
    }
    return this.#stopReason === undefined ? rows : []
  }

  /** Compares a row with the earlier row of the same id, or with the ledger. */
  async #conflictsOf(row: AwardRow, byId: Map<string, AwardRow>): Promise<Issue[]> {
    const earlier = byId.get(row.id)
    if (earlier === undefined) byId.set(row.id, row)
    const known = earlier ?? (await this.#session.findConflict(row))
    return known === undefined ? [] : conflictIssues(row, known)
  }

  /** Handles the items of a list, several at once. */
  async #work<Item>(items: AsyncIterable<Item> | Iterable<Item>, handle: (item: Item) => Promise<void>): Promise<void> {
    const work = async (): Promise<void> => {
      try {
        for await (const item of items) {
          await handle(item).catch((error: unknown) => this.#ledgerFailed(error))
          this.#progress.schedule()
        }
      } catch (error) {
        this.#stop('the list of awards threw an error', error)
      }
    }
    await Promise.all(Array.from({ length: this.#workers }, work))
  }

  /** Resolves when the row is finished. @throws the error of the ledger */
  async #award(checked: IndexedRow): Promise<void> {
    const report = this.#report
    if (!checked.ok) return report.addInvalid(checked.index, checked.row, checked.issues)
    const { index, row } = checked
    const seen = this.#seen.add(row)
    if (seen === 'duplicate') return report.addDuplicate(row.xp)
    if (seen === 'new') return this.#send({ index, row })
    if (this.#mustNotSend(row)) return this.#addUnsent({ index, row })
    this.#stopAtConflict(index, row, await this.#session.findConflict(row))
  }

  /** Claims and attempts an award until it is finished. @throws the error of the ledger */
  async #send(task: Task): Promise<void> {
    const { index, row } = task
    for (;;) {
      if (this.#mustNotSend(row)) return this.#addUnsent(task)
      const claim = await this.#session.claim(row, this.#retryable)
      switch (claim.state) {
        case 'done':
          return this.#addFromLedger(task, claim)
        case 'conflict':
          return this.#stopAtConflict(index, row, claim.known)
        case 'busy':
          await this.#waitWhileBusy(claim.retryMs)
          break
        case 'claimed':
          if (await this.#attempt(task, claim.attempt)) return
      }
    }
  }

  /** @param known - the other award; `undefined` if it was an earlier row that is not in the ledger */
  #stopAtConflict(index: number, row: AwardRow, known: AwardRow | undefined): void {
    const message = `is the id of an earlier row with another address, campaign or XP: ${toJsonLine(row.id)}`
    const issues = known === undefined ? [{ path: ['id'], message }] : conflictIssues(row, known)
    const cause = invalidRequestError('rewardWallets', issuesOfRow(index, issues), 'it was not sent')
    this.#stop('a row contradicts the ledger or an earlier row', cause, CORRECT)
  }

  /** @returns whether the row is finished. @throws the error of the ledger */
  async #attempt(task: Task, attempt: Attempt): Promise<boolean> {
    const { row } = attempt
    const attempted = this.#mustNotSend(row) ? undefined : await this.#try(attempt)
    const { verdict, failure } = attempted ?? {}
    if (verdict === 'alreadyAwarded' && !isUsedBefore(verdict, failure)) this.#hasSucceeded = true
    const end = await this.#record(attempt, attempted).catch((error: unknown) => {
      const ledgerFailure = { code: 'ledger_failed', message: 'the ledger failed before it recorded the outcome' }
      this.#add(task, { verdict: 'indeterminate', failure: ledgerFailure })
      throw error
    })
    if (end === undefined) return false
    if (end.kind === 'invalid') {
      // If an earlier attempt has a result in the ledger, report that result.
      if (attempt.isInDoubt || attempt.previousVerdict !== undefined) await this.#addUnsent(task)
      else this.#report.addInvalid(task.index, row, end.error.issues)
      return true
    }
    if (end.kind === 'retry' && end.reason !== 'indeterminate') {
      if (end.reason === 'busy') await this.#waitWhileBusy(MAX_BUSY_MS)
      return false
    }
    this.#finish(task, end, attempted?.outcome)
    return true
  }

  /** Reports the result of an attempt, and keeps the row if its award is to be sent again at the end of the run. */
  #finish(task: Task, end: Exclude<AttemptEnd, { kind: 'invalid' }>, outcome: CallOutcome | undefined): void {
    const verdict = end.kind === 'final' ? end.verdict : 'indeterminate'
    this.#add(task, { verdict, failure: end.failure })
    this.#progress.countFinished()
    // With the other outcomes, the service refused the id and `confirm` or `isUsedId` failed, or the run stops.
    const isUnknown = verdict === 'indeterminate' && (outcome?.kind === 'failed' || outcome?.kind === 'unreachable')
    if (isUnknown && this.#unknown.length < MAX_UNKNOWN_ROWS) this.#unknown.push(task)
  }

  /** Confirms or sends an award. @returns `undefined` if the award must not be sent any more */
  async #try(attempt: Attempt): Promise<Attempted | undefined> {
    const confirmed = await confirmAward(attempt, this.#judge)
    if (confirmed !== undefined) return confirmed
    const outcome = await this.#call(attempt)
    return outcome && judgeOutcome(attempt, outcome, this.#judge)
  }

  /** Calls the service at the pace of the run. @returns `undefined` if the award must not be sent any more */
  async #call(attempt: Attempt): Promise<CallOutcome | undefined> {
    const { row } = attempt
    const sent = await this.#pacer.call(async () => {
      if (this.#mustNotSend(row)) return undefined
      const outcome = await sendAward(this.#client, row, this.#callOptions)
      this.#applyRules(attempt, outcome)
      return { outcome }
    })
    this.#progress.schedule()
    return sent?.outcome
  }

  /** Reports a row. At the end of the run, its result replaces the earlier one. */
  #add({ index, row }: Task, result: AwardResult): void {
    if (this.#isResending) this.#report.removeIndeterminate(index, row)
    this.#report.add(index, row, result)
  }

  async #record(attempt: Attempt, attempted: Attempted | undefined): Promise<AttemptEnd | undefined> {
    if (attempted !== undefined) return recordAttempt(this.#session, attempt, attempted)
    await this.#session.release(attempt)
    return undefined
  }

  /** Halts a campaign or stops the run if the outcome requires it. */
  #applyRules({ row, isInDoubt }: Attempt, outcome: CallOutcome): void {
    switch (outcome.kind) {
      case 'unreachable':
        if (this.#isResending) this.#endResending()
        return
      case 'failed':
        if (++this.#consecutiveUnknown < MAX_UNKNOWN) return
        if (this.#isResending) this.#endResending()
        else this.#stop(`${MAX_UNKNOWN} consecutive awards ended with an unknown outcome`, outcome.error)
        return
      case 'campaign_refused':
        this.#report.haltCampaign(row.pid, outcome.error.message)
        break
      case 'refused':
        // The refusal of a row in doubt may only mean that an earlier attempt succeeded.
        if (!isInDoubt && !outcome.maybeApplied) this.#countRefusal(outcome.error)
        break
      case 'done':
        this.#hasSucceeded = true
        break
      default:
        // These outcomes do not reset the count of unknown outcomes.
        return
    }
    this.#consecutiveUnknown = 0
  }

  #countRefusal(cause: CampaignError): void {
    if (this.#hasSucceeded) return
    const kind = cause instanceof ApiError ? [cause.code, statusOf(cause), cause.reason].join(' ') : cause.code
    const count = (this.#refusals.get(kind) ?? 0) + 1
    this.#refusals.set(kind, count)
    if (count < MAX_REFUSALS) return
    this.#stop(`${MAX_REFUSALS} awards were refused in the same way, and none was accepted`, cause)
  }

  #mustNotSend({ pid }: AwardRow): boolean {
    return this.#stopReason !== undefined || this.#isResendingOver || this.#report.isHalted(pid)
  }

  /** Reports a row that the run does not send. Uses the ledger's result of the row if there is one. */
  async #addUnsent(task: Task): Promise<void> {
    // At the end of the run, the row keeps the result that it has.
    if (this.#isResending) return
    const known = await this.#session.lookUp(task.row)
    if (known === undefined) return this.#report.addHalted(task.row.pid)
    if (isFinal(known.verdict)) return this.#addFromLedger(task, known)
    this.#report.add(task.index, task.row, known)
  }

  #addFromLedger(task: Task, result: AwardResult): void {
    if (isAwarded(result.verdict) && !isUsedBefore(result.verdict, result.failure)) this.#hasSucceeded = true
    this.#report.countFromLedger()
    this.#add(task, result)
  }

  async #waitWhileBusy(retryMs: number): Promise<void> {
    await sleep(Math.min(retryMs, MAX_BUSY_MS), this.#stopping.signal).catch(() => undefined)
  }

  /** Calls `confirm` at the pace of the run, with a time limit after a stop. */
  async #confirm(confirm: NonNullable<Judge['confirm']>, row: AwardRow): Promise<Confirmation> {
    const ask: ReadAward = async () => ({ confirmation: await this.#withinTimeout(confirm(row)) })
    const read = readerOf(confirm) ?? ask
    return (await this.#pacer.call(() => read(row, this.#readings.signal))).confirmation
  }

  /** Rejects when {@link #confirmTimeout} is aborted. */
  #withinTimeout(confirmation: Confirmation | Promise<Confirmation>): Promise<Confirmation> {
    const { signal } = this.#confirmTimeout
    return new Promise((resolve, reject) => {
      const onTimeout = (): void => reject(new Error('confirm did not return in time'))
      if (signal.aborted) onTimeout()
      const removeListener = onAbort(signal, onTimeout)
      Promise.resolve(confirmation).then(resolve, reject).finally(removeListener)
    })
  }
}
