import type { Answer, WebhookRejectionReason } from './answer.ts'
import { refusal } from './answer.ts'
import type { ReceiverSettings, WebhookErrorContext, WebhookErrorStage } from './receiver-options.ts'

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
    callSafely(
      () => this.#onReject?.(rejection),
      (error) => this.error(error, 'hook', id),
    )
    return answer
  }

  error(error: unknown, stage: WebhookErrorStage, id?: string): void {
    const context = { stage, endpoint: this.#endpoint, ...(id !== undefined && { id }) }
    callSafely(() => this.#onError(error, context), ignore)
  }
}

function ignore(): void {}

/** A hook may throw, or be asynchronous and reject: unobserved, a rejection would end a Node process. */
function callSafely(hook: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    Promise.resolve(hook()).catch(onFailure)
  } catch (error) {
    onFailure(error)
  }
}

function logError(error: unknown, { stage, endpoint, id }: WebhookErrorContext): void {
  const message = id === undefined ? '' : `, message ${JSON.stringify(id)}`
  console.error(`campaign-client webhook receiver ${JSON.stringify(endpoint)}${message}: ${stage} failed.`, error)
}
