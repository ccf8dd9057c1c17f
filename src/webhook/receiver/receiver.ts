import { LeaseError } from '../../errors/webhook-errors.ts'
import { withTimeout } from '../../shared/timers.ts'
import { Deadline, LATE } from './deadline.ts'
import { type ClaimedDelivery, claimDelivery, deliveryKey, releaseDelivery } from './delivery.ts'
import { HandlerRun, type RunOutcome } from './handler-run.ts'
import { type InboundRequest, type Message, readMessage } from './message.ts'
import type { ReceiverSettings } from './options.ts'
import { ReceiverReports } from './reports.ts'
import { ACCEPTED, type WebhookResponse } from './responses.ts'

/** Limits of one request. Times are in milliseconds from its arrival. */
export interface RequestLimits {
  /** When to respond although the handler is still running. @defaultValue `deadlineMs` */
  respondMs?: number
  /** When to abort the handler, because the invocation ends soon. Never later than `maxRunMs`. */
  runMs?: number
  /** Whether to respond only after the delivery is recorded, because the runtime stops after the response. @defaultValue false */
  respondAfterRecording?: boolean
}

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
    limits: RequestLimits = {},
  ): Promise<T> {
    let onSent = (): void => {}
    const onVerified = (): void => {
      const sent = new Promise<void>((resolve) => {
        onSent = resolve
      })
      void track(this.#responses, sent)
    }
    try {
      return send(await this.#respond(request, limits, onVerified))
    } finally {
      onSent()
    }
  }

  close(timeoutMs: number): Promise<void> {
    this.#closed ??= this.#close(timeoutMs)
    return this.#closed
  }

  async #respond(request: InboundRequest, limits: RequestLimits, onVerified: () => void): Promise<WebhookResponse> {
    const reports = this.#reports
    const { endpoint, store, leaseMs, deadlineMs, unexpectedShape } = this.settings
    const arrivedAt = performance.now()
    const deadline = new Deadline(Math.min(deadlineMs, limits.respondMs ?? deadlineMs))
    try {
      if (this.#closed) return reports.rejected('closing')
      const read = await readMessage(request, this.settings, reports, deadline)
      if (!read.ok) return reports.rejected(read.reason, read)
      const { message } = read
      const { event } = message
      const { id, issues } = event
      if (this.#closed) return reports.rejected('closing', { id })
      if (unexpectedShape === 'retry' && event.kind === 'unknown' && issues.length > 0) {
        return reports.rejected('unexpected_shape', { id, issues })
      }
      onVerified()

      const onError: ReceiverReports['error'] = (error, stage) => reports.error(error, stage, id)
      const delivery = { store, key: deliveryKey(endpoint, id), leaseMs, onError }
      const claim = await claimDelivery(delivery, deadline, (released) => void track(this.#work, released))
      if (claim === undefined) return reports.rejected('store_unavailable', { id })
      if (claim.state === 'busy') return reports.rejected('busy', { id, retryMs: claim.retryMs })
      if (claim.state === 'done') {
        reports.handled(event, 'duplicate', performance.now() - arrivedAt, 0)
        return ACCEPTED.duplicate
      }
      if (this.#closed) {
        await deadline.meet(track(this.#work, releaseDelivery(claim.claimed).settled))
        return reports.rejected('closing', { id })
      }

      if (issues.length > 0) reports.unexpectedShape(event)
      const run = this.#run(message, claim.claimed, arrivedAt, limits)
      try {
        request.waitUntil?.(settled(run))
      } catch (error) {
        // The handler is already running, and its outcome decides the response.
        onError(error, 'receiver')
      }
      const isLate = await this.#isLate(run, deadline, arrivedAt, limits)
      const { outcome } = run
      // Even if the store could not record the success: any other response would cause a retry, and run the handler again.
      if (outcome === 'handled' || outcome === 'discarded') return ACCEPTED[outcome]
      if (isLate) return reports.rejected('past_deadline', { id })
      if (outcome === 'failed') return reports.rejected('handler_failed', { id })
      return reports.rejected(this.#closed ? 'closing' : 'busy', { id })
    } catch (error) {
      reports.error(error, 'receiver')
      return reports.rejected('internal_error')
    } finally {
      deadline.clear()
    }
  }

  /**
   * Waits until the handler has ended and the first attempt to record that is over (with `respondAfterRecording`, the last
   * one), or until `close()` has abandoned the handler. Returns whether the time limit came first.
   */
  async #isLate(
    run: HandlerRun,
    requestDeadline: Deadline,
    arrivedAt: number,
    { respondMs, respondAfterRecording = false }: RequestLimits,
  ): Promise<boolean> {
    const recorded = run.ended.then((call) => (respondAfterRecording ? call.settled : call.firstAttempt))
    const deadline = respondMs === undefined ? requestDeadline : new Deadline(arrivedAt + respondMs - performance.now())
    const first = await deadline.meet(Promise.race([recorded, run.abandoned]))
    deadline.clear()
    return first === LATE
  }

  #run(message: Message, delivery: ClaimedDelivery, arrivedAt: number, { runMs }: RequestLimits): HandlerRun {
    const { retainMs, maxRunMs, handle } = this.settings
    const runLimit =
      runMs === undefined || runMs >= maxRunMs
        ? { until: arrivedAt + maxRunMs, message: 'The webhook handler ran for maxRunMs.' }
        : { until: arrivedAt + runMs, message: 'The webhook handler has to stop before its invocation ends.' }
    const onEnd = (outcome: RunOutcome, startedAt: number) =>
      this.#reports.handled(message.event, outcome, startedAt - arrivedAt, performance.now() - startedAt)
    const run = new HandlerRun(delivery, { message, retainMs, runLimit, handle, onEnd })
    this.#runs.push(run)
    const removed = settled(run).then(() => remove(this.#runs, run))
    void track(this.#work, removed)
    return run
  }

  async #close(timeoutMs: number): Promise<void> {
    await withTimeout(this.#idle(), timeoutMs)
    const reason = new LeaseError('receiver_closed', 'The webhook receiver was closed while the handler was running.')
    for (const run of this.#runs) run.abort(reason)
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

/** Resolves when the handler has ended, and its delivery is completed or released, or all attempts have failed. */
const settled = (run: HandlerRun): Promise<void> => run.ended.then((call) => call.settled)

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
