import { LeaseError } from '../errors.ts'
import { Deadline, LATE } from './deadline.ts'
import { deliveryKey } from './delivery-key.ts'
import { HandlerRun, type RunOutcome } from './handler-run.ts'
import { type InboundRequest, type Message, readMessage } from './read-message.ts'
import { ReceiverReports } from './receiver-reports.ts'
import type { ReceiverSettings } from './receiver-settings.ts'
import { type ClaimedDelivery, claimDelivery, releaseDelivery } from './store-calls.ts'
import { settlesWithin } from './timers.ts'
import { ACCEPTED_ANSWERS, type WebhookAnswer, type WebhookRejectionReason } from './webhook-answer.ts'

/** Limits of one request. Times are in milliseconds from its arrival. */
export interface RequestLimits {
  /** When to answer although the handler is still running. Default `deadlineMs`. */
  answerMs?: number
  /** When to abort the handler, because the invocation ends soon. Never later than `maxRunMs`. */
  runMs?: number
  /** Whether to answer only after the delivery is recorded, because the runtime stops after the answer. Default false. */
  answerAfterRecording?: boolean
}

/** The time for aborted handlers to stop. The store then has the same time to release their claims. */
const CLOSE_GRACE_MS = 1000

/** Handles a request from its arrival to its answer. All adapters use it. */
export class ReceiverCore {
  readonly settings: ReceiverSettings
  readonly #reports: ReceiverReports
  // Arrays, because a `Set` keeps deleted elements in memory until a full garbage collection.
  readonly #runs: HandlerRun[] = []
  /** Runs and releases that have not settled. */
  readonly #work: Promise<unknown>[] = []
  /** Pending answers to verified messages. */
  readonly #answers: Promise<unknown>[] = []
  #closed: Promise<void> | undefined

  constructor(settings: ReceiverSettings) {
    this.settings = settings
    this.#reports = new ReceiverReports(settings)
  }

  /**
   * Handles a request.
   *
   * @param send - sends the answer. If the message is verified, `close()` waits until the answer is sent
   * @returns the result of `send`. Rejects only when `send` throws.
   */
  async accept<T>(request: InboundRequest, send: (answer: WebhookAnswer) => T, limits: RequestLimits = {}): Promise<T> {
    let onSent = (): void => {}
    const onVerified = (): void => {
      const sent = new Promise<void>((resolve) => {
        onSent = resolve
      })
      void track(this.#answers, sent)
    }
    try {
      return send(await this.#answer(request, limits, onVerified))
    } finally {
      onSent()
    }
  }

  close(timeoutMs: number): Promise<void> {
    this.#closed ??= this.#close(timeoutMs)
    return this.#closed
  }

  async #answer(request: InboundRequest, limits: RequestLimits, onVerified: () => void): Promise<WebhookAnswer> {
    const reports = this.#reports
    const { endpoint, store, leaseMs, deadlineMs } = this.settings
    const arrivedAt = performance.now()
    const deadline = new Deadline(Math.min(deadlineMs, limits.answerMs ?? deadlineMs))
    try {
      if (this.#closed) return reports.rejected('closing')
      const read = await readMessage(request, this.settings, reports, deadline)
      if (!read.ok) return reports.rejected(read.reason, read)
      const { message } = read
      const { event } = message
      const { id } = event
      if (this.#closed) return reports.rejected('closing', { id })
      onVerified()

      const onError: ReceiverReports['error'] = (error, stage) => reports.error(error, stage, id)
      const stored = { store, key: deliveryKey(endpoint, id), leaseMs, onError }
      const claimed = await claimDelivery(stored, deadline, (released) => void track(this.#work, released))
      if (claimed === undefined) return reports.rejected('store_unavailable', { id })
      const { claim, claimedAt } = claimed
      if (claim.state === 'done') {
        reports.handled(event, 'duplicate', performance.now() - arrivedAt, 0)
        return ACCEPTED_ANSWERS.duplicate
      }
      if (claim.state === 'busy') return reports.rejected('busy', { id, retryMs: claim.retryMs })
      const delivery = { token: claim.token, claimedAt, ...stored }
      if (this.#closed) {
        await deadline.meet(track(this.#work, releaseDelivery(delivery)))
        return reports.rejected('closing', { id })
      }

      const run = this.#run(message, delivery, arrivedAt, limits)
      try {
        request.waitUntil?.(run.settled)
      } catch (error) {
        // The handler is already running, and its outcome decides the answer.
        onError(error, 'receiver')
      }
      const answerDeadline =
        limits.answerMs === undefined ? deadline : new Deadline(arrivedAt + limits.answerMs - performance.now())
      const outcome = await answerDeadline.meet(run.outcome)
      answerDeadline.clear()
      if (run.success !== undefined) return ACCEPTED_ANSWERS[run.success]
      return reports.rejected(this.#reasonOf(outcome), { id })
    } catch (error) {
      reports.error(error, 'receiver')
      return reports.rejected('internal_error')
    } finally {
      deadline.clear()
    }
  }

  #run(
    message: Message,
    delivery: ClaimedDelivery,
    arrivedAt: number,
    { runMs, answerAfterRecording = false }: RequestLimits,
  ): HandlerRun {
    const { retainMs, maxRunMs, handle } = this.settings
    const runLimit =
      runMs === undefined || runMs >= maxRunMs
        ? { until: arrivedAt + maxRunMs, message: 'The webhook handler ran for maxRunMs.' }
        : { until: arrivedAt + runMs, message: 'The webhook handler has to stop before its invocation ends.' }
    const onEnd = (outcome: RunOutcome, startedAt: number) =>
      this.#reports.handled(message.event, outcome, startedAt - arrivedAt, performance.now() - startedAt)
    const run = new HandlerRun(delivery, { message, retainMs, runLimit, handle, answerAfterRecording, onEnd })
    this.#runs.push(run)
    const removed = run.settled.then(() => remove(this.#runs, run))
    void track(this.#work, removed)
    return run
  }

  #reasonOf(outcome: RunOutcome | typeof LATE): WebhookRejectionReason {
    if (outcome === LATE) return 'past_deadline'
    if (outcome === 'failed') return 'handler_failed'
    return this.#closed ? 'closing' : 'busy'
  }

  async #close(timeoutMs: number): Promise<void> {
    await settlesWithin(timeoutMs, this.#idle())
    const reason = new LeaseError('receiver_closed', 'The webhook receiver was closed while the handler was running.')
    for (const run of this.#runs) run.abort(reason)
    await settlesWithin(CLOSE_GRACE_MS, this.#idle())
    const released = Promise.all(this.#runs.map((run) => run.releaseClaim()))
    await settlesWithin(
      CLOSE_GRACE_MS,
      released.then(() => Promise.all(this.#answers)),
    )
  }

  /** Resolves when no work and no answer is pending. Includes work that starts later, for example a release. */
  async #idle(): Promise<void> {
    while (this.#work.length + this.#answers.length > 0) await Promise.allSettled([...this.#work, ...this.#answers])
  }
}

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
