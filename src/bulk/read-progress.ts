import { setMaxListeners } from 'node:events'
import type { CampaignClient } from '../client.ts'
import type { GetUserProgressRequest, UserProgress } from '../endpoints/get-user-progress.ts'
import { type CampaignError, UnexpectedResponseError } from '../errors/client-errors.ts'
import { mustBeFunction, mustBeSignal, type OptionRules, optional, readOptions } from '../errors/option-checks.ts'
import { clientInternals, PACED_OPTIONS } from '../shared/client-internals.ts'
import { nextTurn, onAbort } from '../shared/timers.ts'
import { isRecord } from '../shared/type-checks.ts'
import { type CallOutcome, DONE, outcomeOf } from './attempt.ts'
import {
  DEFAULT_CONCURRENCY,
  DEFAULT_PATIENCE_MS,
  mustBeConcurrency,
  mustBePatience,
  Pacer,
  type Waiting,
} from './pacing.ts'
import { ProgressReporter } from './report.ts'
import { issuesOfClient, issuesOfList, lengthOf, type Rows, readList, requireArguments } from './rows.ts'

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
   * Called with the progress of the reading, at most ten times a second, every second while it waits, and once at the end.
   * Errors that the callback throws are ignored.
   */
  onProgress?: ((progress: ReadingProgress) => void) | undefined
  /**
   * How long it waits for a service that stops responding, or responds only with 429, in milliseconds: 0 to 24 hours. The time
   * that a `Retry-After` asks for does not count. It always waits for at least three pauses, about two seconds. If the
   * service has not responded at all by then, the iteration throws.
   *
   * @defaultValue 120 000
   */
  patienceMs?: number | undefined
}

const OPTIONS: OptionRules<ReadProgressOptions> = {
  concurrency: mustBeConcurrency,
  signal: optional(mustBeSignal),
  onProgress: optional(mustBeFunction),
  patienceMs: mustBePatience,
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
  /** Set while the reading waits, because the service responds with 429 or does not respond; otherwise null. */
  readonly waiting: Waiting | null
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
 * @throws ConfigurationError when an option is wrong or misspelt
 * @throws InvalidRequestError when an argument is wrong, such as users that can't be iterated. The iteration throws the
 *   other errors, after the results of the calls in flight
 * @throws UnauthorizedError | AccessTokenError | ConfigurationError when all calls would fail
 * @throws NetworkError | TimeoutError when the service does not respond for `patienceMs`
 * @throws RateLimitError when the service responds only with 429 for `patienceMs`, or its `Retry-After` is more than 15 minutes
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
  const own = readOptions('readProgress', options, OPTIONS)
  requireArguments('readProgress', [...issuesOfClient(client, 'getUserProgress'), ...issuesOfList('users', users)])
  return new ProgressReader(client, users, own).read()
}

/** The maximum number of retries after temporary failures of one user. */
const MAX_RETRIES = 2

interface Task<User> {
  readonly user: User
  readonly retries: number
}

class ProgressReader<User extends GetUserProgressRequest> {
  readonly #client: Pick<CampaignClient, 'getUserProgress'>
  readonly #concurrency: number
  readonly #signal: AbortSignal | undefined
  readonly #pacer: Pacer
  readonly #progress: ProgressReporter<Omit<ReadingProgress, 'rate' | 'timeLeftMs'>>
  readonly #users: AsyncGenerator<Task<User>, void>
  readonly #stopping = new AbortController()
  /** Aborts the calls in flight. */
  readonly #aborting = new AbortController()
  #total: number | undefined
  readonly #callOptions: { readonly signal: AbortSignal }
  /** Users to read again, after all others. */
  readonly #retries: Task<User>[] = []
  #failure: { readonly error: unknown } | undefined
  #taken = 0
  readonly #counts = { read: 0, failed: 0 }

  constructor(
    client: Pick<CampaignClient, 'getUserProgress'>,
    users: Rows<User>,
    { concurrency = DEFAULT_CONCURRENCY, patienceMs = DEFAULT_PATIENCE_MS, signal, onProgress }: ReadProgressOptions,
  ) {
    this.#client = client
    this.#concurrency = concurrency
    this.#signal = signal
    this.#pacer = new Pacer({ concurrency, patienceMs, stopRun: (_, cause) => this.#fail(cause) })
    const caller = { operation: 'readProgress', argument: 'users' }
    this.#users = readList(users, (user) => ({ user, retries: 0 }), this.#stopping.signal, caller)
    this.#total = lengthOf(users)
    this.#progress = new ProgressReporter(onProgress, () => ({
      users: this.#taken,
      total: this.#total ?? null,
      counts: { ...this.#counts },
      waiting: this.#pacer.waiting,
    }))
    const { signal: aborted } = this.#aborting
    this.#callOptions = { signal: aborted, ...(clientInternals(client) && PACED_OPTIONS) }
    // A client may add a listener for each call, and Node warns of more than ten.
    setMaxListeners(0, this.#aborting.signal)
  }

  async *read(): AsyncGenerator<ProgressReading<User>, void, undefined> {
    const signal = this.#signal
    const removeListener = signal && onAbort(signal, () => this.#abort(signal.reason))
    if (signal?.aborted) this.#abort(signal.reason)
    const workers = Array.from({ length: this.#concurrency }, () => this.#work())
    const nextOf = async (worker: (typeof workers)[number]) => ({ worker, result: await worker.next() })
    const pending = new Map(workers.map((worker) => [worker, nextOf(worker)]))
    try {
      while (pending.size > 0) {
        const { worker, result } = await Promise.race(pending.values())
        signal?.throwIfAborted()
        pending.delete(worker)
        if (result.done) continue
        yield result.value
        signal?.throwIfAborted()
        pending.set(worker, nextOf(worker))
      }
      if (this.#failure !== undefined) throw this.#failure.error
    } finally {
      removeListener?.()
      this.#abort(undefined)
      // Lets the list clean up.
      await this.#users.return().catch(() => undefined)
      this.#progress.finish()
    }
  }

  /** Reads one user after the other. Never rejects. */
  async *#work(): AsyncGenerator<ProgressReading<User>, void> {
    for (let task = await this.#take(); task !== undefined; task = await this.#take()) {
      const reading = await this.#read(task)
      this.#progress.schedule()
      if (reading !== undefined) yield reading
    }
  }

  /** Takes the next user; `undefined` if none is left. */
  async #take(): Promise<Task<User> | undefined> {
    try {
      const next = await this.#users.next()
      if (!next.done) {
        this.#taken++
        return next.value
      }
    } catch (error) {
      // Lets the workers start the calls for the users before the error.
      await nextTurn()
      this.#fail(error)
    }
    if (this.#failure !== undefined) return undefined
    this.#total = this.#taken
    return this.#retries.shift()
  }

  /** Reads one user. Returns `undefined` if the user is read again later, or the iteration ends. */
  async #read({ user, retries }: Task<User>): Promise<ProgressReading<User> | undefined> {
    for (;;) {
      const { outcome, progress } = await this.#pacer.call(() => this.#call(user))
      if (outcome === undefined) return undefined
      switch (outcome.kind) {
        case 'done':
          this.#counts.read++
          this.#progress.countFinished()
          // Undefined if the response had no data, and the client has `responseValidation: 'report'`.
          return { user, progress: progress as UserProgress }
        case 'rate_limited':
          this.#progress.schedule()
          continue
        case 'fatal':
          return undefined
        case 'unreachable':
        case 'failed':
          if (retries < MAX_RETRIES && !(outcome.error instanceof UnexpectedResponseError)) {
            this.#retries.push({ user, retries: retries + 1 })
            return undefined
          }
      }
      this.#counts.failed++
      this.#progress.countFinished()
      return { user, error: outcome.error }
    }
  }

  async #call(user: User): Promise<{ outcome?: CallOutcome; progress?: UserProgress }> {
    if (this.#failure !== undefined) return {}
    try {
      // The client's error for a user that is not an object is better than one about `undefined`.
      const request = isRecord(user) ? { account: user.account, platform: user.platform, pid: user.pid } : user
      const progress = await this.#client.getUserProgress(request as User, this.#callOptions)
      return { outcome: DONE, progress }
    } catch (error) {
      return this.#aborting.signal.aborted ? {} : { outcome: outcomeOf(error) }
    }
  }

  /** Ends the iteration after the results of the calls in flight. Keeps the first error. */
  #fail(error: unknown): void {
    this.#failure ??= { error }
    this.#stopping.abort()
    this.#pacer.stop()
  }

  #abort(reason: unknown): void {
    this.#fail(reason)
    this.#aborting.abort(reason)
  }
}
