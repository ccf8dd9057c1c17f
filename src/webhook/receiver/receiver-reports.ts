import { callHook } from '../../shared/call-hook.ts'
import type { Finding } from '../diagnose/finding.ts'
import type { WebhookEvent } from '../event/webhook-event.ts'
import type { ReceiverSettings } from './receiver-settings.ts'
import { rejectionAnswer, type WebhookAnswer, type WebhookRejectionReason } from './webhook-answer.ts'
import type {
  WebhookErrorContext,
  WebhookErrorStage,
  WebhookHandledOutcome,
  WebhookRejection,
} from './webhook-receiver-options.ts'

interface RejectionDetails {
  /** The id of a verified message. */
  id?: string
  /** Delay after which a retry may succeed, in milliseconds. */
  retryMs?: number
  diagnose?: () => Finding[]
}

/** Calls `onReject`, `onError` and `onHandled`. Errors of these hooks do not change an answer. */
export class ReceiverReports {
  readonly #endpoint: string
  readonly #onReject: NonNullable<ReceiverSettings['onReject']>
  readonly #onError: NonNullable<ReceiverSettings['onError']>
  readonly #onHandled: ReceiverSettings['onHandled']

  constructor({ endpoint, onReject, onError, onHandled }: ReceiverSettings) {
    const warnings = new ConsoleWarnings()
    this.#endpoint = endpoint
    this.#onReject = onReject ?? ((rejection) => warnOfRejection(warnings, rejection))
    this.#onError = onError ?? ((error, context) => warnOfError(warnings, error, context))
    this.#onHandled = onHandled
  }

  /** Reports a rejection, and returns its answer. */
  rejected(reason: WebhookRejectionReason, { id, retryMs, diagnose = () => [] }: RejectionDetails = {}): WebhookAnswer {
    const answer = rejectionAnswer(reason, retryMs)
    const data = { reason, status: answer.status, endpoint: this.#endpoint, ...(id !== undefined && { id }) }
    // Not enumerable, so that the rejection can be logged, compared and cloned.
    const rejection = Object.defineProperty(data, 'diagnose', { value: diagnose }) as WebhookRejection
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

  handled({ id, kind }: WebhookEvent, outcome: WebhookHandledOutcome, waitedMs: number, ranMs: number): void {
    callHook(
      () => this.#onHandled?.({ id, kind, endpoint: this.#endpoint, outcome, waitedMs, ranMs }),
      (error) => this.error(error, 'hook', id),
    )
  }
}

const WARNING_INTERVAL_MS = 60_000

/** Writes at most one warning per topic and minute to the console. */
class ConsoleWarnings {
  readonly #topics = new Map<string, { warnedAt: number; skipped: number }>()

  warn(topic: string, ...words: unknown[]): void {
    const last = this.#topics.get(topic)
    const now = performance.now()
    if (last !== undefined && now < last.warnedAt + WARNING_INTERVAL_MS) {
      last.skipped += 1
      return
    }
    this.#topics.set(topic, { warnedAt: now, skipped: 0 })
    if (last?.skipped) words.push(`(and ${last.skipped} more since the last warning of this kind)`)
    console.warn(...words)
  }
}

/** `onError` has received the cause of these rejections, so a second warning is not needed. */
const REPORTED_AS_ERRORS: ReadonlySet<WebhookRejectionReason> = new Set([
  'body_not_raw',
  'secret_unavailable',
  'store_unavailable',
  'handler_failed',
  'internal_error',
])

function warnOfRejection(warnings: ConsoleWarnings, rejection: WebhookRejection): void {
  const { reason, status } = rejection
  if (REPORTED_AS_ERRORS.has(reason)) return
  warnings.warn(
    reason,
    `${describe(rejection)}: a request was answered ${status} (${reason}). Set onReject to handle every rejection. ` +
      'Its argument has a method diagnose(), which explains a wrong signature.',
  )
}

function warnOfError(warnings: ConsoleWarnings, error: unknown, context: WebhookErrorContext): void {
  const { stage } = context
  warnings.warn(stage, `${describe(context)}: ${stage} failed. Set onError to handle every failure.`, error)
}

const describe = ({ endpoint, id }: { endpoint: string; id?: string }): string =>
  `campaign-client webhook receiver ${JSON.stringify(endpoint)}${id === undefined ? '' : `, message ${JSON.stringify(id)}`}`
