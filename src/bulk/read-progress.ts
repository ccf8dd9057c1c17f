import { setMaxListeners } from 'node:events'
import type { CampaignClient } from '../client.ts'
import type { GetUserProgressRequest, UserProgress } from '../endpoints/get-user-progress.ts'
import { type CampaignError, UnexpectedResponseError } from '../errors/client-errors.ts'
import { mustBeFunction, mustBeSignal, type OptionRules, optional } from '../shared/option-checks.ts'
import { isRecord } from '../shared/type-checks.ts'
import { DEFAULT_CONCURRENCY, issuesOfClient, issuesOfList, mustBeConcurrency, readOptions } from './arguments.ts'
import { type CallOutcome, outcomeOf, Pacer } from './pacing.ts'
import { ProgressReporter } from './report.ts'
import { lengthOf, type Rows, readList } from './rows.ts'

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

const OPTIONS: OptionRules<ReadProgressOptions> = {
  concurrency: mustBeConcurrency,
  signal: optional(mustBeSignal),
  onProgress: optional(mustBeFunction),
}

/** The result of one user: the user's progress, or the error of the call. */
export type ProgressReading<User> =
  | { readonly user: User; readonly progress: UserProgress; readonly error?: undefined }
  | { readonly user: User; readonly progress?: undefined; readonly error: CampaignError }

/** The progress of {@link readProgress} itself. */
export interface ReadingProgress {
  /** The number of users that were taken from the list. */
  readonly users: number
  /** The number of users in the list; null until it is known. */
  readonly total: number | null
  /** The number of users that were read, and of users with an error. */
  readonly counts: { readonly read: number; readonly failed: number }
  /** Users finished per second, over the last ten seconds. */
  readonly rate: number
  /** The estimated time left at this rate, in milliseconds; null while there is no estimate. */
  readonly timeLeftMs: number | null
  /** The rest of the current pause, in milliseconds. */
  readonly waitingMs: number
}

/**
 * Reads the progress of many users with `getUserProgress`, several at once. Iterate over the result: it has one element per
 * user, in the order in which the calls end. Nothing is sent before the first iteration.
 *
 * - It pauses as `rewardWallets` does: after a 429, and after three consecutive calls without a response.
 * - If a call fails for a temporary reason (no response, 408, 5xx), the user is read again after all others, at most twice.
 *   Then the element has the `error`. A 429 does not count: the user is read again after the pause.
 * - The element of any other failure has its `error` at once: a 4xx, an invalid user, an unexpected response.
 * - If you process the elements slowly, at most `concurrency` results wait for you.
 * - `break` aborts the calls in flight.
 *
 * See "GET /user/progress" in docs/the-service.md.
 *
 * @param client - reads each user with `getUserProgress`. The client's time limits and retries apply
 * @param users - any iterable or async iterable of objects with `account`, `platform` and `pid`. It is read on demand. The
 *   `user` of each element is the same object, so it can have more fields, such as your own ID
 * @param options - the concurrency, a signal and a progress callback
 * @throws InvalidRequestError when an argument is wrong: users that can't be iterated, an unknown option. The iteration
 *   throws the other errors, after the results of the calls in flight
 * @throws UnauthorizedError | AccessTokenError | ConfigurationError when all calls would fail
 * @throws NetworkError | TimeoutError when the service is unreachable after three pauses
 * @throws RateLimitError when the service still responds with 429 after 30 pauses, or its `Retry-After` is more than 15 minutes
 * @throws the error of the list; the signal's reason at once after an abort
 *
 * @example
 * ```ts
 * for await (const { user, progress, error } of readProgress(client, users)) {
 *   console.log(user.account, progress?.total ?? error.code)
 * }
 * ```
 */
export function readProgress<User extends GetUserProgressRequest>(
  client: Pick<CampaignClient, 'getUserProgress'>,
  users: Rows<User>,
  options: ReadProgressOptions = {},
): AsyncGenerator<ProgressReading<User>, void, undefined> {
  const own = readOptions('readProgress', options, OPTIONS, [
    ...issuesOfClient(client, 'getUserProgress'),
    ...issuesOfList('users', users),
  ])
  return new ProgressReader(client, users, own).read()
}

/** How often a user is read again after a temporary failure. */
const MAX_RETRIES = 2

/** A user that is to be read. */
interface Task<User> {
  readonly user: User
  readonly retries: number
}

type Event<User> =
  | { readonly kind: 'taken'; readonly task: Task<User> | undefined }
  | { readonly kind: 'ended'; readonly call: Promise<Event<User>>; readonly reading: ProgressReading<User> | undefined }

class ProgressReader<User extends GetUserProgressRequest> {
  readonly #client: Pick<CampaignClient, 'getUserProgress'>
  readonly #concurrency: number
  readonly #signal: AbortSignal | undefined
  readonly #pacer: Pacer
  readonly #progress: ProgressReporter<Omit<ReadingProgress, 'rate' | 'timeLeftMs'>>
  /** Aborts the calls in flight and the list. */
  readonly #aborting = new AbortController()
  readonly #users: ReturnType<typeof readList<User, User>>
  #isListEnded = false
  /** Users to read again, after all others. */
  readonly #retries: Task<User>[] = []
  /** The error that ends the iteration. */
  #failure: { readonly error: unknown } | undefined
  #taken = 0
  readonly #counts = { read: 0, failed: 0 }

  constructor(
    client: Pick<CampaignClient, 'getUserProgress'>,
    users: Rows<User>,
    { concurrency = DEFAULT_CONCURRENCY, signal, onProgress }: ReadProgressOptions,
  ) {
    this.#client = client
    this.#concurrency = concurrency
    this.#signal = signal
    this.#pacer = new Pacer(concurrency, (_, cause) => this.#fail(cause))
    this.#users = readList(users, (user) => user, this.#aborting.signal)
    const total = lengthOf(users)
    this.#progress = new ProgressReporter(onProgress, () => ({
      users: this.#taken,
      total: (this.#isListEnded ? this.#taken : total) ?? null,
      counts: { ...this.#counts },
      waitingMs: this.#pacer.pauseLeftMs,
    }))
    setMaxListeners(0, this.#aborting.signal)
  }

  async *read(): AsyncGenerator<ProgressReading<User>, void, undefined> {
    const signal = this.#signal
    const onAbort = (): void => {
      this.#fail(signal?.reason)
      this.#aborting.abort(signal?.reason)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted) onAbort()
    const calls = new Set<Promise<Event<User>>>()
    let taking: Promise<Event<User>> | undefined
    let isNothingLeft = false
    try {
      for (;;) {
        if (!isNothingLeft && calls.size < this.#concurrency) taking ??= this.#take()
        // After a failure, do not wait for a list that may never yield.
        if (calls.size === 0 && (taking === undefined || this.#failure !== undefined)) break
        const event = await Promise.race(taking === undefined ? calls : [...calls, taking])
        signal?.throwIfAborted()
        if (event.kind === 'taken') {
          taking = undefined
          if (event.task === undefined) isNothingLeft = true
          else this.#start(event.task, calls)
          continue
        }
        calls.delete(event.call)
        // The call may have left a user to read again.
        isNothingLeft = false
        this.#progress.schedule()
        if (event.reading !== undefined) yield event.reading
        signal?.throwIfAborted()
      }
      if (this.#failure !== undefined) throw this.#failure.error
    } finally {
      signal?.removeEventListener('abort', onAbort)
      this.#fail(undefined)
      this.#aborting.abort()
      // Lets the list clean up.
      await this.#users.next().catch(() => undefined)
      this.#progress.finish()
    }
  }

  /** Takes the next user; `undefined` if none is left now. A call in flight may leave one. Never rejects. */
  async #take(): Promise<Event<User>> {
    if (!this.#isListEnded && this.#failure === undefined) {
      try {
        const next = await this.#users.next()
        if (!next.done) {
          this.#taken++
          return { kind: 'taken', task: { user: next.value.item, retries: 0 } }
        }
        this.#isListEnded = true
      } catch (error) {
        this.#fail(error)
      }
    }
    return { kind: 'taken', task: this.#failure === undefined ? this.#retries.shift() : undefined }
  }

  #start(task: Task<User>, calls: Set<Promise<Event<User>>>): void {
    const call: Promise<Event<User>> = this.#read(task).then((reading) => ({ kind: 'ended', call, reading }))
    calls.add(call)
  }

  /** Reads one user. Returns `undefined` if the user is read again later, or the iteration ends. Never rejects. */
  async #read(task: Task<User>): Promise<ProgressReading<User> | undefined> {
    const { user } = task
    for (;;) {
      const { outcome, progress } = await this.#pacer.call(() => this.#call(user))
      switch (outcome?.kind) {
        case 'done':
          this.#finished('read')
          // Undefined if the response had no data, and the client has `responseValidation: 'report'`.
          return { user, progress: progress as UserProgress }
        case 'rate_limited':
          continue
        case 'unreachable':
        case 'failed':
          if (task.retries === MAX_RETRIES || outcome.error instanceof UnexpectedResponseError) break
          this.#retries.push({ user, retries: task.retries + 1 })
          return undefined
        case 'refused':
        case 'campaign_refused':
        case 'invalid':
          break
        default:
          return undefined
      }
      this.#finished('failed')
      return { user, error: outcome.error }
    }
  }

  async #call(user: User): Promise<{ outcome?: CallOutcome; progress?: UserProgress }> {
    if (this.#failure !== undefined) return {}
    try {
      // The client's error for a user that is not an object is better than a TypeError.
      const request = isRecord(user) ? { account: user.account, platform: user.platform, pid: user.pid } : user
      const progress = await this.#client.getUserProgress(request as User, { signal: this.#aborting.signal })
      return { outcome: { kind: 'done', maybeApplied: false }, progress }
    } catch (error) {
      return this.#aborting.signal.aborted ? {} : { outcome: outcomeOf(error) }
    }
  }

  #finished(result: 'read' | 'failed'): void {
    this.#counts[result]++
    this.#progress.countFinished()
  }

  /** Ends the iteration. Keeps the first error. */
  #fail(error: unknown): void {
    this.#failure ??= { error }
    this.#pacer.stop()
  }
}
