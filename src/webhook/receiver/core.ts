import type { ClaimResult } from '../stores/store.ts'
import { type Answer, acceptance } from './answer.ts'
import { Deadline, LATE } from './deadline.ts'
import { DeliveryRun, type RunOutcome } from './delivery.ts'
import { deliveryKey } from './delivery-key.ts'
import { type InboundRequest, type Message, takeIn } from './intake.ts'
import { LeaseError } from './lease.ts'
import { ReceiverReports } from './reports.ts'
import type { ReceiverSettings } from './settings.ts'
import { requireClaim } from './store-answers.ts'
import { atMost, monotonicNow } from './timer.ts'

/** How long one request may take where it differs from the options. In milliseconds from its arrival. */
export interface Patience {
  /** When a request whose handler is still running is answered. Default `deadlineMs`. */
  answerMs?: number
  /** When the handler is aborted. Never later than `maxRunMs`. */
  runMs?: number
}

/** How long handlers may take to stop after `close()` aborted them, and the store to release what they held. */
const CLOSE_GRACE_MS = 1000

/** What all adapters share: from a request to an answer, and the end of it all. */
export class ReceiverCore {
  readonly #settings: ReceiverSettings
  readonly #reports: ReceiverReports
  /** Claims being asked for, and deliveries being handled. */
  readonly #pending = new Set<Promise<unknown>>()
  readonly #runs = new Set<DeliveryRun>()
  /** Senders of messages that were begun and wait for their answer. */
  readonly #answers = new Set<Promise<void>>()
  #closed: Promise<void> | undefined

  constructor(settings: ReceiverSettings) {
    this.#settings = settings
    this.#reports = new ReceiverReports(settings)
  }

  get settings(): ReceiverSettings {
    return this.#settings
  }

  /**
   * @param send - hands the answer to the runtime; close() waits for it where a message had been begun
   * @returns what `send` returned. Rejects only when that throws.
   */
  async accept<T>(request: InboundRequest, send: (answer: Answer) => T, patience: Patience = {}): Promise<T> {
    let sent = (): void => {}
    const begin = (): void => {
      const answered = new Promise<void>((resolve) => {
        sent = resolve
      })
      this.#answers.add(answered)
      void answered.then(() => this.#answers.delete(answered))
    }
    try {
      return send(await this.#answerTo(request, patience, begin))
    } finally {
      sent()
    }
  }

  close(timeoutMs: number): Promise<void> {
    this.#closed ??= this.#drain(timeoutMs)
    return this.#closed
  }

  async #answerTo(request: InboundRequest, patience: Patience, begin: () => void): Promise<Answer> {
    const arrivedAt = monotonicNow()
    const { deadlineMs } = this.#settings
    const deadline = new Deadline(Math.min(deadlineMs, patience.answerMs ?? deadlineMs))
    try {
      if (this.#closed) return this.#reports.rejected('closing')
      const intake = await takeIn(request, this.#settings, this.#reports, deadline)
      if (!intake.ok) return this.#reports.rejected(intake.reason)
      if (this.#closed) return this.#reports.rejected('closing', intake.message.event.id)
      begin()
      return await this.#deliver(intake.message, request, arrivedAt, patience, deadline)
    } catch (error) {
      this.#reports.error(error, 'receiver')
      return this.#reports.rejected('internal_error')
    } finally {
      deadline.clear()
    }
  }

  async #deliver(
    message: Message,
    request: InboundRequest,
    arrivedAt: number,
    patience: Patience,
    deadline: Deadline,
  ): Promise<Answer> {
    const { event } = message
    const { endpoint, deadlineMs, maxRunMs } = this.#settings
    // A claim that is not made in time must not be made later: it could outlive the pause before the last retry.
    if (deadline.signal.aborted) return this.#reports.rejected('store_unavailable', event.id)

    const key = deliveryKey(endpoint, event.id)
    const claimedAt = monotonicNow()
    const claim = await this.#claim(key, event.id, claimedAt, deadline)
    if (claim === undefined) return this.#reports.rejected('store_unavailable', event.id)
    if (claim.state === 'done') return acceptance('duplicate')
    if (claim.state === 'busy') return this.#reports.rejected('busy', event.id, claim.retryMs)
    if (this.#closed) {
      await this.#releaseUnused(key, claim.token, event.id)
      return this.#reports.rejected('closing', event.id)
    }

    const run = this.#start(
      message,
      key,
      claim.token,
      claimedAt,
      arrivedAt + Math.min(patience.runMs ?? maxRunMs, maxRunMs),
    )
    try {
      request.waitUntil?.(run.outcome)
    } catch (error) {
      // The handler runs all the same, and what becomes of it is the answer.
      this.#reports.error(error, 'receiver', event.id)
    }
    const answerBy = new Deadline(arrivedAt + (patience.answerMs ?? deadlineMs) - monotonicNow())
    try {
      return this.#answer(run, await answerBy.meet(Promise.race([run.outcome, run.interrupted])), event.id)
    } finally {
      answerBy.clear()
    }
  }

  /** @returns `undefined` when the store failed or came too late, which was reported */
  async #claim(key: string, id: string, claimedAt: number, deadline: Deadline): Promise<ClaimResult | undefined> {
    const { store, leaseMs } = this.#settings
    const asked = (async () => requireClaim(await store.claim(key, leaseMs)))()
    // close() waits for a claim on its way as well: it may come through, and has to be released then.
    this.#track(asked)
    try {
      const claim = await deadline.meet(asked)
      // Past its lease a claim is nobody's: the next attempt may be handled elsewhere already.
      const held = monotonicNow() < claimedAt + leaseMs
      if (claim !== LATE && (held || claim.state !== 'claimed')) return claim
    } catch (error) {
      this.#reports.error(error, 'claim', id)
      return undefined
    }
    this.#reports.error(
      new Error(`The delivery store did not answer within ${Math.min(deadline.delayMs, leaseMs)} ms.`),
      'claim',
      id,
    )
    this.#track(
      asked.then(
        (late) => (late.state === 'claimed' ? this.#releaseUnused(key, late.token, id) : undefined),
        (error) => this.#reports.error(error, 'claim', id),
      ),
    )
    return undefined
  }

  #start(message: Message, key: string, token: string, claimedAt: number, runUntil: number): DeliveryRun {
    const { store, leaseMs, retainMs, handle } = this.#settings
    const onError: ReceiverReports['error'] = (error, stage) => this.#reports.error(error, stage, message.event.id)
    const run = new DeliveryRun({
      ...message,
      ...{ store, key, token, leaseMs, retainMs, claimedAt, runUntil, handle, onError },
    })
    this.#runs.add(run)
    this.#track(run.outcome.finally(() => this.#runs.delete(run)))
    return run
  }

  #answer(run: DeliveryRun, outcome: RunOutcome | typeof LATE, id: string): Answer {
    if (run.success) return acceptance(run.success)
    if (outcome === 'failed') return this.#reports.rejected('handler_failed', id)
    if (this.#closed && outcome === 'interrupted') return this.#reports.rejected('closing', id)
    return this.#reports.rejected(outcome === LATE ? 'past_deadline' : 'busy', id)
  }

  async #releaseUnused(key: string, token: string, id: string): Promise<void> {
    try {
      await atMost(this.#settings.leaseMs, this.#settings.store.release(key, token))
    } catch (error) {
      this.#reports.error(error, 'release', id)
    }
  }

  #track(work: Promise<unknown>): void {
    const settled: Promise<unknown> = work.then(
      () => this.#pending.delete(settled),
      () => this.#pending.delete(settled),
    )
    this.#pending.add(settled)
  }

  async #drain(timeoutMs: number): Promise<void> {
    await atMost(timeoutMs, this.#idle())
    if (this.#isIdle) return
    const reason = new LeaseError('receiver_closed', 'The webhook receiver was closed while the handler was running.')
    for (const run of this.#runs) run.abort(reason)
    await atMost(CLOSE_GRACE_MS, this.#idle())
    const released = Promise.all([...this.#runs].map((run) => run.cutOff()))
    await atMost(
      CLOSE_GRACE_MS,
      released.then(() => Promise.all(this.#answers)),
    )
  }

  /** Resolves when nothing is pending; work that begins meanwhile (the release of a late claim) counts too. */
  async #idle(): Promise<void> {
    while (!this.#isIdle) await Promise.all([...this.#pending, ...this.#answers])
  }

  get #isIdle(): boolean {
    return this.#pending.size === 0 && this.#answers.size === 0
  }
}
