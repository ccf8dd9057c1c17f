import { type ClaimedDelivery, claimDelivery, deliveryKey, releaseDelivery } from './claim.ts'
import { Deadline, LATE } from './deadline.ts'
import { Delivery, type DeliveryOutcome } from './delivery.ts'
import { LeaseError } from './handler-errors.ts'
import { type InboundRequest, type Message, readMessage } from './read-message.ts'
import { type EventName, ReceiverReports } from './receiver-reports.ts'
import type { ReceiverSettings } from './receiver-settings.ts'
import { monotonicNow, settles } from './timers.ts'
import { ACCEPTED_ANSWERS, type WebhookAnswer, type WebhookRejectionReason } from './webhook-answer.ts'

/** Limits of a single request that replace the options. In milliseconds from its arrival. */
export interface RequestLimits {
  /** When to answer although the handler is still running. Default `deadlineMs`. */
  answerMs?: number
  /** When to abort the handler, because the invocation ends soon. Never later than `maxRunMs`. */
  runMs?: number
  /** Whether the runtime stops after the answer, so that the delivery has to be recorded before. */
  untilRecorded?: boolean
}

/** How long handlers may take to stop after `close()` aborted them, and the store to release their claims. */
const CLOSE_GRACE_MS = 1000

/** The part that all adapters share: from a request to its answer, and `close()`. */
export class ReceiverCore {
  readonly settings: ReceiverSettings
  readonly #reports: ReceiverReports
  readonly #deliveries = new Set<Delivery>()
  /** Deliveries being handled, and claims being released. `close()` waits for them. */
  readonly #work = new Pending()
  /** Verified messages whose senders wait for their answer. */
  readonly #answers = new Pending()
  #closed: Promise<void> | undefined

  constructor(settings: ReceiverSettings) {
    this.settings = settings
    this.#reports = new ReceiverReports(settings)
  }

  /**
   * Handles a request.
   *
   * @param send - gives the answer to the runtime; `close()` waits for it once the message is verified
   * @returns what `send` returned. Rejects only when `send` throws.
   */
  async accept<T>(request: InboundRequest, send: (answer: WebhookAnswer) => T, limits: RequestLimits = {}): Promise<T> {
    let isVerified = false
    const onVerified = (): void => {
      isVerified = true
      this.#answers.begin()
    }
    try {
      return send(await this.#answer(request, limits, onVerified))
    } finally {
      if (isVerified) this.#answers.end()
    }
  }

  close(timeoutMs: number): Promise<void> {
    this.#closed ??= this.#drain(timeoutMs)
    return this.#closed
  }

  async #answer(request: InboundRequest, limits: RequestLimits, onVerified: () => void): Promise<WebhookAnswer> {
    const reports = this.#reports
    const { endpoint, store, leaseMs, deadlineMs } = this.settings
    const arrivedAt = monotonicNow()
    const deadline = new Deadline(Math.min(deadlineMs, limits.answerMs ?? deadlineMs))
    try {
      if (this.#closed) return reports.rejected('closing')
      const read = await readMessage(request, this.settings, reports, deadline)
      if (!read.ok) return reports.rejected(read.reason, read)
      const { message } = read
      // A copy, because the handler may write to its event.
      const event = { id: message.event.id, kind: message.event.kind }
      if (this.#closed) return reports.rejected('closing', event)
      onVerified()

      const onError: ReceiverReports['error'] = (error, stage) => reports.error(error, stage, event.id)
      const stored = { store, key: deliveryKey(endpoint, event.id), leaseMs, onError }
      const claimed = await claimDelivery(stored, deadline, (release) => void this.#work.during(release))
      if (claimed === undefined) return reports.rejected('store_unavailable', event)
      const { claim, claimedAt } = claimed
      if (claim.state === 'done') return reports.duplicate(event, arrivedAt)
      if (claim.state === 'busy') return reports.rejected('busy', { id: event.id, retryMs: claim.retryMs })
      const held = { ...stored, token: claim.token, claimedAt }
      if (this.#closed) {
        await deadline.meet(this.#work.during(releaseDelivery(held)))
        return reports.rejected('closing', event)
      }

      const delivery = this.#deliver(message, event, held, arrivedAt, limits)
      try {
        request.waitUntil?.(delivery.settled)
      } catch (error) {
        // The handler runs all the same, and its outcome is the answer.
        onError(error, 'receiver')
      }
      const answerBy =
        limits.answerMs === undefined ? deadline : new Deadline(arrivedAt + limits.answerMs - monotonicNow())
      const outcome = await answerBy.meet(delivery.outcome)
      answerBy.clear()
      if (delivery.success !== undefined) return ACCEPTED_ANSWERS[delivery.success]
      return reports.rejected(this.#reasonOf(outcome), event)
    } catch (error) {
      reports.error(error, 'receiver')
      return reports.rejected('internal_error')
    } finally {
      deadline.clear()
    }
  }

  #deliver(
    message: Message,
    event: EventName,
    claim: ClaimedDelivery,
    arrivedAt: number,
    { runMs, untilRecorded = false }: RequestLimits,
  ): Delivery {
    const { retainMs, maxRunMs, handle } = this.settings
    const runLimit =
      runMs === undefined || runMs >= maxRunMs
        ? { until: arrivedAt + maxRunMs, message: 'The webhook handler ran for maxRunMs.' }
        : { until: arrivedAt + runMs, message: 'The webhook handler has to stop before its invocation ends.' }
    const onEnd = (outcome: DeliveryOutcome, startedAt: number) =>
      this.#reports.ended(event, outcome, arrivedAt, startedAt)
    const delivery = new Delivery(claim, { message, retainMs, runLimit, handle, untilRecorded, onEnd })
    this.#deliveries.add(delivery)
    void this.#work.during(delivery.settled.then(() => this.#deliveries.delete(delivery)))
    return delivery
  }

  #reasonOf(outcome: DeliveryOutcome | typeof LATE): WebhookRejectionReason {
    if (outcome === LATE) return 'past_deadline'
    if (outcome === 'failed') return 'handler_failed'
    return this.#closed ? 'closing' : 'busy'
  }

  async #drain(timeoutMs: number): Promise<void> {
    await settles(timeoutMs, this.#idle())
    const reason = new LeaseError('receiver_closed', 'The webhook receiver was closed while the handler was running.')
    for (const delivery of this.#deliveries) delivery.abort(reason)
    await settles(CLOSE_GRACE_MS, this.#idle())
    const released = Promise.all([...this.#deliveries].map((delivery) => delivery.cutOff()))
    await settles(
      CLOSE_GRACE_MS,
      released.then(() => this.#answers.none()),
    )
  }

  /** Resolves when nothing is pending. Work that begins meanwhile (the release of a late claim) counts too. */
  async #idle(): Promise<void> {
    while (!(this.#work.isNone && this.#answers.isNone)) await Promise.all([this.#work.none(), this.#answers.none()])
  }
}

/** Counts pending work. */
class Pending {
  #count = 0
  #waiting: (() => void)[] = []

  get isNone(): boolean {
    return this.#count === 0
  }

  begin(): void {
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    if (this.#count > 0) return
    for (const callback of this.#waiting.splice(0)) callback()
  }

  async during<T>(work: Promise<T>): Promise<T> {
    this.begin()
    try {
      return await work
    } finally {
      this.end()
    }
  }

  /** Resolves when nothing is pending. More may be pending again by the time the caller continues. */
  none(): Promise<void> {
    return this.isNone ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve))
  }
}
