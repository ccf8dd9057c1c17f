import { ConfigurationError } from '../../errors/client-errors.ts'
import { LeaseError, WebhookShapeError } from '../../errors/webhook-errors.ts'
import { onAbort, reasonOf, withTimeout } from '../../shared/timers.ts'
import {
  type ClaimedDelivery,
  claimDelivery,
  deliveryKey,
  interruptDelivery,
  isKeyOf,
  releaseDelivery,
  reportError,
} from './delivery.ts'
import { type TakenDelivery, takeDelivery } from './failed-messages.ts'
import { HandlerRun } from './handler-run.ts'
import type { ReceiverSettings, WebhookRejection } from './options.ts'
import { ReceiverReports } from './reports.ts'
import { Deadline, type InboundRequest, LATE, type Message, readMessage } from './request.ts'
import { accepted, rejected, type WebhookRejectionReason, type WebhookResponse } from './responses.ts'

/** Limits of one invocation. Times are in milliseconds from the arrival of its request. */
export interface InvocationLimits {
  /** When to respond although the handler is still running. @defaultValue `deadlineMs` */
  respondMs?: number
  /** When to abort the handler, because the invocation ends soon. Never later than `maxRunMs`. */
  runMs?: number
  /** Whether to respond only after the delivery is recorded, because the runtime stops after the response. @defaultValue false */
  respondAfterRecording?: boolean
}

/**
 * The outcome of a replay:
 *
 * - `handled`: the handler succeeded, and the message is done;
 * - `discarded`: the handler threw `DiscardEvent`, and the message is done;
 * - `duplicate`: the message was done before;
 * - `busy`: an attempt of the service or another replay is handling the message;
 * - `failed`: the handler threw or was interrupted, the message has an unexpected shape, or the store could not record that it is
 *   done. The message is kept, unless another receiver has handled it. `onError` gets the cause, except
 *   for an unexpected shape;
 * - `unknown`: no message of this endpoint is kept under the key.
 */
export type WebhookReplayOutcome = 'handled' | 'discarded' | 'duplicate' | 'busy' | 'failed' | 'unknown'

/** The time for aborted handlers to stop. The store then has the same time to release their claims. */
const CLOSE_GRACE_MS = 1000

/** Handles a request from its arrival to its response. All adapters use it. */
export class Receiver {
  readonly settings: ReceiverSettings
  readonly #reports: ReceiverReports
  // Arrays, because a `Set` keeps deleted elements in memory until a full garbage collection.
  readonly #runs: HandlerRun[] = []
  /** Runs and releases that have not settled. */
  readonly #work: Promise<unknown>[] = []
  /** Pending responses to verified messages. */
  readonly #responses: Promise<unknown>[] = []
  #closed: Promise<void> | undefined

  constructor(settings: ReceiverSettings) {
    this.settings = settings
    this.#reports = new ReceiverReports(settings)
  }

  /**
   * Handles a request.
   *
   * @param send - sends the response. If the message is verified, `close()` waits until the response is sent
   * @returns the result of `send`. Rejects only when `send` throws.
   */
  async accept<T>(
    request: InboundRequest,
    send: (response: WebhookResponse) => T,
    limits: InvocationLimits = {},
  ): Promise<T> {
    const sent = Promise.withResolvers<void>()
    try {
      return send(await this.#respond(request, limits, sent.promise))
    } finally {
      sent.resolve()
    }
  }

  close(timeoutMs: number): Promise<void> {
    this.#closed ??= this.#close(timeoutMs)
    return this.#closed
  }

  async #respond(request: InboundRequest, limits: InvocationLimits, sent: Promise<void>): Promise<WebhookResponse> {
    const { settings } = this
    const reports = this.#reports
    const arrivedAt = performance.now()
    const deadline = new Deadline(Math.min(settings.deadlineMs, limits.respondMs ?? settings.deadlineMs))
    try {
      if (this.#closed) return this.#reject('closing')
      const read = await readMessage(request, settings, reports, deadline)
      if (!read.ok) return this.#reject(read.reason, read)
      const { message } = read
      const { event } = message
      const { id, issues } = event
      if (this.#closed) return this.#reject('closing', { id })
      const isRefused = this.#refuses(message)
      if (isRefused && settings.keepFailedMs === undefined) return this.#reject('unexpected_shape', { id, issues })
      void track(this.#responses, sent)

      const delivery = { key: deliveryKey(settings.endpoint, id), message, arrivedAt, settings, reports }
      const claim = await claimDelivery(delivery, deadline)
      if (claim.state === 'failed' && claim.released) void track(this.#work, claim.released)
      if (isRefused && claim.state !== 'done') {
        // Keep the message for a replay. The response is the same even if that fails.
        if (claim.state === 'claimed') await deadline.meet(this.#releaseRefused(claim.claimed))
        return this.#reject('unexpected_shape', { id, issues })
      }
      if (claim.state === 'failed') return this.#reject('store_unavailable', { id })
      if (claim.state === 'busy') return this.#reject('busy', { id, retryMs: claim.retryMs })
      if (claim.state === 'done') {
        reports.handled(event, 'duplicate', performance.now() - arrivedAt, 0)
        return accepted('duplicate')
      }
      if (this.#closed) {
        await deadline.meet(track(this.#work, interruptDelivery(claim.claimed, closedReason()).settled))
        return this.#reject('closing', { id })
      }

      if (issues.length > 0) reports.unexpectedShape(event)
      const run = this.#run(claim.claimed, limits)
      try {
        request.waitUntil?.(settled(run))
      } catch (error) {
        // The handler is already running, and its outcome decides the response.
        reportError(delivery, error, 'receiver')
      }
      const isLate = await this.#isLate(run, deadline, arrivedAt, limits)
      const { outcome } = run
      // Accept even if the store did not record the success: a retry would run the handler again.
      if (outcome === 'handled' || outcome === 'discarded') return accepted(outcome)
      if (isLate) return this.#reject('past_deadline', { id })
      if (outcome === 'failed') return this.#reject('handler_failed', { id })
      return this.#reject(this.#closed ? 'closing' : 'busy', { id })
    } catch (error) {
      reports.error(error, 'receiver')
      return this.#reject('internal_error')
    } finally {
      deadline.clear()
    }
  }

  /**
   * Handles a kept message. See {@link WebhookReceiver.replay}.
   *
   * @throws ConfigurationError when the receiver is closed, or its store keeps no messages
   */
  async replay(key: string, signal: AbortSignal | undefined): Promise<WebhookReplayOutcome> {
    const { settings } = this
    if (this.#closed) throw closedError()
    if (signal?.aborted) throw reasonOf(signal)
    if (!isKeyOf(settings.endpoint, key)) return 'unknown'
    const record = { key, arrivedAt: performance.now(), settings, reports: this.#reports }
    const taking = track(this.#work, takeDelivery(record))
    const taken = await (signal ? this.#takenUntilAborted(taking, signal) : taking)
    if (taken.state !== 'claimed') return taken.state === 'done' ? 'duplicate' : taken.state
    const { claimed } = taken
    if (this.#closed || signal?.aborted) {
      const error = signal?.aborted ? reasonOf(signal) : closedError()
      await track(this.#work, interruptDelivery(claimed, error).settled)
      throw error
    }
    if (this.#refuses(claimed.message)) {
      await this.#releaseRefused(claimed)
      return 'failed'
    }

    const { event } = claimed.message
    if (event.issues.length > 0) this.#reports.unexpectedShape(event)
    const run = this.#run(claimed, {})
    const ended = Promise.race([settled(run), run.abandoned])
    const isRecorded = await (signal ? untilAborted(ended, signal, run) : ended)
    const { outcome } = run
    return isRecorded && (outcome === 'handled' || outcome === 'discarded') ? outcome : 'failed'
  }

  /**
   * Waits for the store. When `signal` fires, does not wait any longer: a claim that comes later is released.
   *
   * @throws the reason of the signal, or the error of the store
   */
  async #takenUntilAborted(taking: Promise<TakenDelivery>, signal: AbortSignal): Promise<TakenDelivery> {
    const aborted = Promise.withResolvers<never>()
    const stopListening = onAbort(signal, () => aborted.reject(reasonOf(signal)))
    try {
      return await Promise.race([taking, aborted.promise])
    } catch (error) {
      const release = async (taken: TakenDelivery): Promise<unknown> =>
        taken.state === 'claimed' && interruptDelivery(taken.claimed, error).settled
      void track(this.#work, taking.then(release))
      throw error
    } finally {
      stopListening()
    }
  }

  /** Whether a message is refused because of its shape. */
  #refuses({ event }: Message): boolean {
    return this.settings.unexpectedShape === 'retry' && event.kind === 'unknown' && event.issues.length > 0
  }

  /** Releases a claim of a message that is refused because of its shape. Resolves after the first attempt. */
  #releaseRefused(delivery: ClaimedDelivery): Promise<void> {
    const error = new WebhookShapeError(delivery.message.event.issues)
    const { firstAttempt, settled } = releaseDelivery(delivery, 'unexpected_shape', error)
    void track(this.#work, settled)
    return firstAttempt
  }

  /**
   * Reports a rejected request, and returns its response.
   *
   * @param retryMs - when another attempt may succeed, in milliseconds
   */
  #reject(
    reason: WebhookRejectionReason,
    { retryMs, ...details }: Partial<Pick<WebhookRejection, 'id' | 'issues' | 'diagnose'>> & { retryMs?: number } = {},
  ): WebhookResponse {
    const response = rejected(reason, retryMs)
    this.#reports.rejected({ ...details, reason, status: response.status })
    return response
  }

  /**
   * Waits until the handler has ended and one attempt to record the result is over (all attempts with
   * `respondAfterRecording`), or `close()` abandons the handler. Returns whether the time limit passed first.
   */
  async #isLate(
    run: HandlerRun,
    requestDeadline: Deadline,
    arrivedAt: number,
    { respondMs, respondAfterRecording = false }: InvocationLimits,
  ): Promise<boolean> {
    const recorded = run.ended.then<unknown>((call) => (respondAfterRecording ? call.settled : call.firstAttempt))
    const deadline = respondMs === undefined ? requestDeadline : new Deadline(arrivedAt + respondMs - performance.now())
    const first = await deadline.meet(Promise.race([recorded, run.abandoned]))
    deadline.clear()
    return first === LATE
  }

  #run(delivery: ClaimedDelivery, { runMs = Infinity }: InvocationLimits): HandlerRun {
    const { maxRunMs } = this.settings
    const message =
      runMs < maxRunMs
        ? 'the webhook handler has to stop before its invocation ends'
        : 'the webhook handler ran for maxRunMs'
    const run = new HandlerRun(delivery, { until: delivery.arrivedAt + Math.min(runMs, maxRunMs), message })
    this.#runs.push(run)
    const removed = settled(run).then(() => remove(this.#runs, run))
    void track(this.#work, removed)
    return run
  }

  async #close(timeoutMs: number): Promise<void> {
    await withTimeout(this.#idle(), timeoutMs)
    for (const run of this.#runs) run.abort(closedReason())
    await withTimeout(this.#idle(), CLOSE_GRACE_MS)
    const released = Promise.all(this.#runs.map((run) => run.abandon()))
    await withTimeout(
      released.then(() => Promise.all(this.#responses)),
      CLOSE_GRACE_MS,
    )
  }

  /** Resolves when no work and no response is pending. Includes work that starts later, for example a release. */
  async #idle(): Promise<void> {
    while (this.#work.length + this.#responses.length > 0) await Promise.allSettled([...this.#work, ...this.#responses])
  }
}

const closedReason = (): LeaseError =>
  new LeaseError('receiver_closed', 'the webhook receiver was closed before the message was handled')

const closedError = (): ConfigurationError =>
  new ConfigurationError('the webhook receiver is closed: replay with a new receiver')

/**
 * Waits for a run. When `signal` fires, aborts the handler, and waits at most a second until it has stopped and its claim is
 * released.
 *
 * @throws the reason of the signal
 */
async function untilAborted<T>(ended: Promise<T>, signal: AbortSignal, run: HandlerRun): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const stopListening = onAbort(signal, () => {
    run.abort(reasonOf(signal))
    void withTimeout(ended, CLOSE_GRACE_MS).then(() => aborted.reject(reasonOf(signal)))
  })
  const result = await Promise.race([ended, aborted.promise]).finally(stopListening)
  if (signal.aborted) throw reasonOf(signal)
  return result
}

/** Resolves when the handler has ended and the store has responded: true if the delivery was completed or released. */
const settled = (run: HandlerRun): Promise<boolean> => run.ended.then((call) => call.settled)

/** Keeps a promise in the list until it settles. Returns the promise. */
function track<T>(pending: Promise<unknown>[], promise: Promise<T>): Promise<T> {
  const onSettled = (): void => remove(pending, promise)
  pending.push(promise)
  promise.then(onSettled, onSettled)
  return promise
}

function remove<T>(list: T[], element: T): void {
  list.splice(list.indexOf(element), 1)
}
