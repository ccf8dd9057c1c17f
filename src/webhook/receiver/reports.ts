import { WebhookShapeError } from '../../errors/webhook-errors.ts'
import { callSafely } from '../../shared/call-safely.ts'
import type { WebhookEvent } from '../event.ts'
import type {
  ReceiverSettings,
  WebhookErrorContext,
  WebhookErrorStage,
  WebhookHandledOutcome,
  WebhookRejection,
} from './options.ts'
import type { WebhookRejectionReason } from './responses.ts'

const WARNING_INTERVAL_MS = 60_000
/** Bounds the memory: the service chooses the types of messages. */
const MAX_TOPICS = 1000

/** `onError` has received the cause of these rejections, so a second warning is not needed. */
const REPORTED_AS_ERRORS: ReadonlySet<WebhookRejectionReason> = new Set([
  'body_not_raw',
  'secret_unavailable',
  'store_unavailable',
  'handler_failed',
  'internal_error',
])

/** Calls `onReject`, `onError` and `onHandled`. Errors of these callbacks do not change a response. */
export class ReceiverReports {
  readonly #settings: ReceiverSettings
  /** The last warning of each topic. */
  readonly #warnings = new Map<string, { warnedAt: number; skipped: number }>()

  constructor(settings: ReceiverSettings) {
    this.#settings = settings
  }

  rejected({
    reason,
    status,
    id,
    issues,
    diagnose = () => [],
  }: Omit<WebhookRejection, 'endpoint' | 'diagnose'> & Partial<Pick<WebhookRejection, 'diagnose'>>): void {
    const { endpoint, onReject } = this.#settings
    const data = { reason, status, endpoint, ...(id !== undefined && { id }), ...(issues && { issues }) }
    // Not enumerable, so that the rejection can be logged, compared and cloned.
    const rejection = Object.defineProperty(data, 'diagnose', { value: diagnose }) as WebhookRejection
    callSafely(
      () => (onReject ? onReject(rejection) : this.#warnOfRejection(rejection)),
      (error) => this.error(error, 'hook', id),
    )
  }

  /** @param topic - limits warnings: one per topic and minute */
  error(error: unknown, stage: WebhookErrorStage, id?: string, topic: string = stage): void {
    const { endpoint, onError } = this.#settings
    const context = { stage, endpoint, ...(id !== undefined && { id }) }
    callSafely(() => (onError ? onError(error, context) : this.#warnOfError(error, context, topic)))
  }

  /** Reports a claimed message that differs from its documented shape. */
  unexpectedShape({ id, type = '', issues }: WebhookEvent): void {
    this.error(new WebhookShapeError(issues), 'message', id, `message ${type}`)
  }

  handled({ id, kind }: WebhookEvent, outcome: WebhookHandledOutcome, waitedMs: number, ranMs: number): void {
    const { endpoint, onHandled } = this.#settings
    if (onHandled === undefined) return
    callSafely(
      () => onHandled({ id, kind, endpoint, outcome, waitedMs, ranMs }),
      (error) => this.error(error, 'hook', id),
    )
  }

  #warnOfRejection(rejection: WebhookRejection): void {
    const { reason, status, issues } = rejection
    if (REPORTED_AS_ERRORS.has(reason)) return
    const text = `${receiverOf(rejection)}: responded to a request with ${status} (${reason}). Set onReject to handle every rejection.`
    if (issues) this.#warn(reason, text, new WebhookShapeError(issues))
    else this.#warn(reason, `${text} Its argument has a method diagnose(), which explains a wrong signature.`)
  }

  #warnOfError(error: unknown, context: WebhookErrorContext, topic: string): void {
    const { stage } = context
    const failure = stage === 'message' ? 'the message is handled, but has an unexpected shape' : `${stage} failed`
    this.#warn(topic, `${receiverOf(context)}: ${failure}. Set onError to handle every failure.`, error)
  }

  /** Writes at most one warning per topic and minute to the console. */
  #warn(topic: string, ...words: unknown[]): void {
    const last = this.#warnings.get(topic)
    const now = performance.now()
    if (last !== undefined && now < last.warnedAt + WARNING_INTERVAL_MS) {
      last.skipped += 1
      return
    }
    if (this.#warnings.size >= MAX_TOPICS) this.#warnings.clear()
    this.#warnings.set(topic, { warnedAt: now, skipped: 0 })
    if (last?.skipped) words.push(`(and ${last.skipped} more since the last warning of this kind)`)
    // The console calls methods of a thrown value, and they may throw.
    callSafely(
      () => console.warn(...words),
      () => console.warn(...words.filter((word) => typeof word === 'string')),
    )
  }
}

/** Names the receiver and the message, for a warning. */
const receiverOf = ({ endpoint, id }: { endpoint: string; id?: string }): string =>
  `campaign-client webhook receiver ${JSON.stringify(endpoint)}${id === undefined ? '' : `, message ${JSON.stringify(id)}`}`
