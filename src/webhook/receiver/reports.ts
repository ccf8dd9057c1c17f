import { callHook } from '../../shared/call-hook.ts'
import type { Finding } from '../diagnose/finding.ts'
import type { WebhookEvent } from '../event/types.ts'
import { ACCEPTED, type Answer, refusal, type WebhookRejectionReason } from './answer.ts'
import { OccasionalWarnings } from './occasional-warnings.ts'
import type { WebhookErrorContext, WebhookErrorStage, WebhookHandledOutcome, WebhookRejection } from './options.ts'
import type { ReceiverSettings } from './settings.ts'
import { monotonicNow } from './timer.ts'

/** What is known of a request that is turned away. */
interface RejectionDetails {
  id?: string
  /** When another attempt may fare better. */
  retryMs?: number
  diagnose?: () => Finding[]
}

/** A message whose signature is right. */
export type Arrived = Pick<WebhookEvent, 'id' | 'kind'>

/** How many messages that were not handled yet are counted. */
const MAX_COUNTED = 10_000

/** Tells the partner's hooks what happened, and keeps what they throw away from the answers. */
export class ReceiverReports {
  readonly #endpoint: string
  readonly #onReject: NonNullable<ReceiverSettings['onReject']>
  readonly #onError: NonNullable<ReceiverSettings['onError']>
  readonly #onHandled: ReceiverSettings['onHandled']
  /** How often each message came that is not done yet; the one that came longest ago first. */
  readonly #attempts = new Map<string, number>()

  constructor({ endpoint, onReject, onError, onHandled }: ReceiverSettings) {
    const warnings = new OccasionalWarnings()
    this.#endpoint = endpoint
    this.#onReject = onReject ?? ((rejection) => warnOfRejection(warnings, rejection))
    this.#onError = onError ?? ((error, context) => warnings.tell(context.stage, () => [describeError(context), error]))
    this.#onHandled = onHandled
  }

  /** The answer for a request that is turned away, after telling `onReject`. */
  rejected(reason: WebhookRejectionReason, { id, retryMs, diagnose = () => [] }: RejectionDetails = {}): Answer {
    const answer = refusal(reason, retryMs)
    const told = { reason, status: answer.status, endpoint: this.#endpoint, ...(id !== undefined && { id }) }
    // Not enumerable, so that a rejection can be logged, compared and cloned as the data it is.
    const rejection = Object.defineProperty(told, 'diagnose', { value: diagnose }) as WebhookRejection
    callHook(
      () => this.#onReject(rejection),
      (error) => this.error(error, 'hook', id),
    )
    return answer
  }

  error(error: unknown, stage: WebhookErrorStage, id?: string): void {
    const context = { stage, endpoint: this.#endpoint, ...(id !== undefined && { id }) }
    callHook(() => this.#onError(error, context))
  }

  /** A message whose signature is right, before anything is done about it. */
  arrived({ id }: Arrived): void {
    // Stryker disable next-line ConditionalExpression: what is counted for nobody costs memory and is never told
    if (this.#onHandled === undefined) return
    const attempts = this.#attempts.get(id) ?? 0
    this.#attempts.delete(id)
    this.#attempts.set(id, attempts + 1)
    if (this.#attempts.size <= MAX_COUNTED) return
    for (const oldest of this.#attempts.keys()) {
      this.#attempts.delete(oldest)
      return
    }
  }

  /** The answer for a message that was done before. */
  duplicate(event: Arrived, arrivedAt: number): Answer {
    this.ended(event, 'duplicate', arrivedAt, monotonicNow())
    return ACCEPTED.duplicate
  }

  /** The times are on the monotonic clock. */
  ended({ id, kind }: Arrived, outcome: WebhookHandledOutcome, arrivedAt: number, startedAt: number): void {
    const onHandled = this.#onHandled
    if (onHandled === undefined) return
    const attempts = this.#attempts.get(id)
    if (outcome !== 'failed' && outcome !== 'interrupted') this.#attempts.delete(id)
    const handled = {
      id,
      kind,
      endpoint: this.#endpoint,
      outcome,
      ...(attempts !== undefined && { attempts }),
      waitedMs: startedAt - arrivedAt,
      ranMs: outcome === 'duplicate' ? 0 : monotonicNow() - startedAt,
    }
    callHook(
      () => onHandled(handled),
      (error) => this.error(error, 'hook', id),
    )
  }
}

const describe = ({ endpoint, id }: { endpoint: string; id?: string }): string =>
  `campaign-client webhook receiver ${JSON.stringify(endpoint)}${id === undefined ? '' : `, message ${JSON.stringify(id)}`}`

/** What `onError` was told of before, so that one fault makes one warning. */
const TOLD_AS_ERRORS: ReadonlySet<WebhookRejectionReason> = new Set([
  'body_not_raw',
  'secret_unavailable',
  'store_unavailable',
  'handler_failed',
  'internal_error',
])

function warnOfRejection(warnings: OccasionalWarnings, rejection: WebhookRejection): void {
  if (TOLD_AS_ERRORS.has(rejection.reason)) return
  warnings.tell(rejection.reason, () => [describeRejection(rejection)])
}

const describeRejection = (rejection: WebhookRejection): string =>
  `${describe(rejection)}: a request was answered ${rejection.status} (${rejection.reason}). ` +
  'Give the receiver an onReject to be told of each one; diagnose() of what it is given says why a signature is wrong.'

const describeError = (context: WebhookErrorContext): string =>
  `${describe(context)}: ${context.stage} failed. Give the receiver an onError to be told of each failure.`
