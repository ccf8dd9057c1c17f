import type { OperationName, RequestOf } from '../../endpoints/index.ts'
import type { WebhookRegistry } from '../deliveries/webhook-registry.ts'
import type { TokenGrant } from '../tokens.ts'
import type { UserEvent } from '../world/complete-task.ts'
import type { ServiceState } from '../world/state.ts'

/** The context in which a rule handles one request. */
export interface RuleContext {
  readonly state: ServiceState
  readonly webhooks: WebhookRegistry
  readonly grant: TokenGrant
  readonly now: number
  readonly announce: (event: UserEvent) => void
}

/** Performs a request, completely or not at all, and returns the envelope's `data`. @throws Refusal */
export type Rule<Name extends OperationName> = (request: RequestOf<Name>, context: RuleContext) => unknown
