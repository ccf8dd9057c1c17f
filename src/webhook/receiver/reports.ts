import { WebhookShapeError } from '../../errors/webhook-errors.ts'
import { callHook } from '../../shared/call-hook.ts'
import type { Issue } from '../../shared/issue.ts'
import type { Finding } from '../diagnose.ts'
import type { WebhookEvent } from '../event.ts'
import type {
  ReceiverSettings,
  WebhookErrorContext,
  WebhookErrorStage,
  WebhookHandledOutcome,
  WebhookRejection,
} from './options.ts'
import { rejectionResponse, type WebhookRejectionReason, type WebhookResponse } from './responses.ts'

interface RejectionDetails {
  /** The id of a verified message. */
  id?: string
  /** Delay after which a retry may succeed, in milliseconds. */
  retryMs?: number
  /** The issues of a message of unexpected shape. */
  issues?: readonly Issue[]
  diagnose?: () => Finding[]
}

/** Calls `onReject`, `onError` and `onHandled`. Errors of these hooks do not change a response. */
export class ReceiverReports {
  readonly #endpoint: string
  readonly #onReject: NonNullable<ReceiverSettings['onReject']>
  readonly #onError: (error: unknown, context: WebhookErrorContext, topic: string) => unknown
  readonly #onHandled: ReceiverSettings['onHandled']

  constructor({ endpoint, onReject, onError, onHandled }: ReceiverSettings) {
    const warnings = new ConsoleWarnings()
    this.#endpoint = endpoint
    this.#onReject = onReject ?? ((rejection) => warnOfRejection(warnings, rejection))
    this.#onError = onError ?? ((error, context, topic) => warnOfError(warnings, error, context, topic))
    this.#onHandled = onHandled
  }

  /** Reports a rejection, and returns its response. */
  rejected(
    reason: WebhookRejectionReason,
    { id, retryMs, issues, diagnose = () => [] }: RejectionDetails = {},
  ): WebhookResponse {
    const response = rejectionResponse(reason, retryMs)
    const data = {
      reason,
      status: response.status,
      endpoint: this.#endpoint,
      ...(id !== undefined && { id }),
      ...(issues && { issues }),
    }
    // Not enumerable, so that the rejection can be logged, compared and cloned.
    const rejection = Object.defineProperty(data, 'diagnose', { value: diagnose }) as WebhookRejection
    callHook(
      () => this.#onReject(rejection),
      (error) => this.error(error, 'hook', id),
    )
    return response
  }

  /** @param topic - limits warnings: one per topic and minute */
  error(error: unknown, stage: WebhookErrorStage, id?: string, topic: string = stage): void {
    const context = { stage, endpoint: this.#endpoint, ...(id !== undefined && { id }) }
    callHook(() => this.#onError(error, context, topic))
  }

  /** Reports a claimed message that differs from its documented shape. */
  unexpectedShape({ id, type = '', issues }: WebhookEvent): void {
    this.error(new WebhookShapeError(issues), 'message', id, `message ${type}`)
  }

  handled({ id, kind }: WebhookEvent, outcome: WebhookHandledOutcome, waitedMs: number, ranMs: number): void {
    const onHandled = this.#onHandled
    if (onHandled === undefined) return
    callHook(
      () => onHandled({ id, kind, endpoint: this.#endpoint, outcome, waitedMs, ranMs }),
      (error) => this.error(error, 'hook', id),
    )
  }
}

const WARNING_INTERVAL_MS = 60_000
/** Bounds the memory: the service chooses the types of messages. */
const MAX_TOPICS = 1000

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
    if (this.#topics.size >= MAX_TOPICS) this.#topics.clear()
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
  const { reason, status, issues } = rejection
  if (REPORTED_AS_ERRORS.has(reason)) return
  const text = `${describe(rejection)}: responded to a request with ${status} (${reason}). Set onReject to handle every rejection.`
  if (issues) warnings.warn(reason, text, new WebhookShapeError(issues))
  else warnings.warn(reason, `${text} Its argument has a method diagnose(), which explains a wrong signature.`)
}

function warnOfError(warnings: ConsoleWarnings, error: unknown, context: WebhookErrorContext, topic: string): void {
  const { stage } = context
  const failure = stage === 'message' ? 'the message is handled, but has an unexpected shape' : `${stage} failed`
  warnings.warn(topic, `${describe(context)}: ${failure}. Set onError to handle every failure.`, error)
}

const describe = ({ endpoint, id }: { endpoint: string; id?: string }): string =>
  `campaign-client webhook receiver ${JSON.stringify(endpoint)}${id === undefined ? '' : `, message ${JSON.stringify(id)}`}`
