import { callHook } from '../../shared/hook.ts'
import type { Answer, WebhookRejectionReason } from './answer.ts'
import { refusal } from './answer.ts'
import type { WebhookErrorContext, WebhookErrorStage } from './options.ts'
import type { ReceiverSettings } from './settings.ts'

/** Tells the partner's hooks what happened, and keeps what they throw away from the answers. */
export class ReceiverReports {
  readonly #endpoint: string
  readonly #onReject: ReceiverSettings['onReject']
  readonly #onError: NonNullable<ReceiverSettings['onError']>

  constructor(settings: ReceiverSettings) {
    this.#endpoint = settings.endpoint
    this.#onReject = settings.onReject
    this.#onError = settings.onError ?? logError
  }

  /** The answer for a request that is turned away, after telling `onReject`. */
  rejected(reason: WebhookRejectionReason, id?: string, retryMs?: number): Answer {
    const answer = refusal(reason, retryMs)
    const rejection = { reason, status: answer.status, endpoint: this.#endpoint, ...(id !== undefined && { id }) }
    callHook(
      () => this.#onReject?.(rejection),
      (error) => this.error(error, 'hook', id),
    )
    return answer
  }

  error(error: unknown, stage: WebhookErrorStage, id?: string): void {
    const context = { stage, endpoint: this.#endpoint, ...(id !== undefined && { id }) }
    callHook(() => this.#onError(error, context))
  }
}

function logError(error: unknown, { stage, endpoint, id }: WebhookErrorContext): void {
  const message = id === undefined ? '' : `, message ${JSON.stringify(id)}`
  console.error(`campaign-client webhook receiver ${JSON.stringify(endpoint)}${message}: ${stage} failed.`, error)
}
