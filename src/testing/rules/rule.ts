import type { OperationName, RequestOf } from '../../endpoints/index.ts'
import type { ServiceState } from '../state/service-state.ts'
import type { UserEvent } from '../state/user-event.ts'
import type { TokenGrant } from '../tokens.ts'
import type { WebhookRegistry } from '../webhooks/webhook-registry.ts'

/** The second argument of every rule. */
export interface RuleContext {
  readonly state: ServiceState
  readonly webhooks: WebhookRegistry
  readonly grant: TokenGrant
  readonly now: number
  readonly sendEvent: (event: UserEvent) => void
}

/** Performs a request, completely or not at all. Returns the envelope's `data`. @throws HttpError */
export type Rule<Name extends OperationName> = (request: RequestOf<Name>, context: RuleContext) => unknown
