import { ACCEPTED, type Answer, type WebhookRejectionReason } from './answer.ts'
import { claimDelivery, deliveryKey, type HeldClaim, releaseClaim } from './claim.ts'
import { Deadline, LATE } from './deadline.ts'
import { Delivery, type DeliveryOutcome } from './delivery.ts'
import { type InboundRequest, type Message, takeIn } from './intake.ts'
import { LeaseError } from './lease.ts'
import { Outstanding } from './outstanding.ts'
import { type Arrived, ReceiverReports } from './reports.ts'
import type { ReceiverSettings } from './settings.ts'
import { monotonicNow, settles } from './timer.ts'

/** What one request is granted where it differs from the options. Times are in milliseconds from its arrival. */
export interface Patience {
  /** When a request whose handler is still running is answered. Default `deadlineMs`. */
  answerMs?: number
  /** When the handler is aborted, because the invocation ends soon. Never later than `maxRunMs`. */
  runMs?: number
  /** Whether the answer freezes the runtime, so that everything has to be recorded before. */
  untilRecorded?: boolean
}

/** How long handlers may take to stop after `close()` aborted them, and the store to release what they held. */
const CLOSE_GRACE_MS = 1000

/** What all adapters share: from a request to an answer, and the end of it all. */
export class ReceiverCore {
  readonly settings: ReceiverSettings
  readonly #reports: ReceiverReports
  readonly #deliveries = new Set<Delivery>()
  /** Claims being asked for, and deliveries being handled. */
  readonly #work = new Outstanding()
  /** Senders of messages that were begun and wait for their answer. */
  readonly #answers = new Outstanding()
  #closed: Promise<void> | undefined

  constructor(settings: ReceiverSettings) {
    this.settings = settings
    this.#reports = new ReceiverReports(settings)
  }

  /**
   * @param send - hands the answer to the runtime; close() waits for it where a message had been begun
   * @returns what `send` returned. Rejects only when that throws.
   */
  async accept<T>(request: InboundRequest, send: (answer: Answer) => T, patience: Patience = {}): Promise<T> {
    let isBegun = false
    // Stryker disable next-line BlockStatement: answers are out some microtasks sooner anyhow, which nobody should count on
    const begin = (): void => {
      isBegun = true
      this.#answers.begin()
    }
    try {
      return send(await this.#answerTo(request, patience, begin))
    } finally {
      if (isBegun) this.#answers.end()
    }
  }

  close(timeoutMs: number): Promise<void> {
    this.#closed ??= this.#drain(timeoutMs)
    return this.#closed
  }

  /** The way of one request, from its arrival to the answer. */
  async #answerTo(request: InboundRequest, patience: Patience, begin: () => void): Promise<Answer> {
    const reports = this.#reports
    const { endpoint, store, leaseMs, deadlineMs } = this.settings
    const arrivedAt = monotonicNow()
    const deadline = new Deadline(Math.min(deadlineMs, patience.answerMs ?? deadlineMs))
    try {
      if (this.#closed) return reports.rejected('closing')
      const intake = await takeIn(request, this.settings, reports, deadline)
      if (!intake.ok) return reports.rejected(intake.reason, intake)
      const { message } = intake
      // Kept apart: a handler may write to its event.
      const event = { id: message.event.id, kind: message.event.kind }
      if (this.#closed) return reports.rejected('closing', event)
      begin()
      reports.arrived(event)

      const onError: ReceiverReports['error'] = (error, stage) => reports.error(error, stage, event.id)
      const claimable = { store, key: deliveryKey(endpoint, event.id), leaseMs, onError }
      const claimed = await claimDelivery(claimable, deadline, this.#work)
      if (claimed === undefined) return reports.rejected('store_unavailable', event)
      const { claim, claimedAt } = claimed
      if (claim.state === 'done') return reports.duplicate(event, arrivedAt)
      if (claim.state === 'busy') return reports.rejected('busy', { id: event.id, retryMs: claim.retryMs })
      const held = { ...claimable, token: claim.token, claimedAt }
      if (this.#closed) {
        await deadline.meet(this.#awaitedByClose(releaseClaim(held)))
        return reports.rejected('closing', event)
      }

      const delivery = this.#deliver(message, event, held, arrivedAt, patience)
      try {
        request.waitUntil?.(delivery.settled)
      } catch (error) {
        // The handler runs all the same, and what becomes of it is the answer.
        onError(error, 'receiver')
      }
      const outcome = await this.#outcomeInTime(delivery, deadline, arrivedAt, patience)
      if (delivery.success !== undefined) return ACCEPTED[delivery.success]
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
    event: Arrived,
    claim: HeldClaim,
    arrivedAt: number,
    { runMs, untilRecorded }: Patience,
  ): Delivery {
    const { retainMs, maxRunMs, handle } = this.settings
    const delivery = new Delivery(claim, {
      message,
      retainMs,
      run:
        runMs === undefined || runMs >= maxRunMs
          ? { until: arrivedAt + maxRunMs, passed: 'The webhook handler ran for maxRunMs.' }
          : { until: arrivedAt + runMs, passed: 'The webhook handler has to stop before its invocation ends.' },
      handle,
      untilRecorded: untilRecorded ?? false,
      onEnd: (outcome, startedAt) => this.#reports.ended(event, outcome, arrivedAt, startedAt),
    })
    this.#deliveries.add(delivery)
    void this.#awaitedByClose(delivery.settled.then(() => this.#deliveries.delete(delivery)))
    return delivery
  }

  async #outcomeInTime(
    { outcome }: Delivery,
    deadline: Deadline,
    arrivedAt: number,
    { answerMs }: Patience,
  ): Promise<DeliveryOutcome | typeof LATE> {
    if (answerMs === undefined) return deadline.meet(outcome)
    const answerBy = new Deadline(arrivedAt + answerMs - monotonicNow())
    try {
      return await answerBy.meet(outcome)
    } finally {
      answerBy.clear()
    }
  }

  #reasonOf(outcome: DeliveryOutcome | typeof LATE): WebhookRejectionReason {
    if (outcome === LATE) return 'past_deadline'
    if (outcome === 'failed') return 'handler_failed'
    return this.#closed ? 'closing' : 'busy'
  }

  async #awaitedByClose<T>(work: Promise<T>): Promise<T> {
    this.#work.begin()
    try {
      return await work
    } finally {
      this.#work.end()
    }
  }

  async #drain(timeoutMs: number): Promise<void> {
    await settles(timeoutMs, this.#idle())
    const reason = new LeaseError('receiver_closed', 'The webhook receiver was closed while the handler was running.')
    for (const delivery of this.#deliveries) delivery.abort(reason)
    await settles(CLOSE_GRACE_MS, this.#idle())
    const released = Promise.all([...this.#deliveries].map((delivery) => delivery.cutOff()))
    await settles(
      CLOSE_GRACE_MS,
      // Stryker disable next-line ArrowFunction: for the same reason
      released.then(() => this.#answers.none()),
    )
  }

  /** Resolves when nothing is pending; work that begins meanwhile (the release of a late claim) counts too. */
  async #idle(): Promise<void> {
    while (!this.#isIdle) await Promise.all([this.#work.none(), this.#answers.none()])
  }

  get #isIdle(): boolean {
    return this.#work.isNone && this.#answers.isNone
  }
}
