import type { OperationName, RequestOf } from '../../endpoints/index.ts'
import type { WebhookRegistry } from '../deliveries/webhook-registry.ts'
import type { TokenGrant } from '../tokens.ts'
import type { UserEvent } from '../world/completion.ts'
import type { ServiceState } from '../world/state.ts'

/** What a rule works with. */
export interface RuleContext {
  readonly state: ServiceState
  readonly webhooks: WebhookRegistry
  readonly grant: TokenGrant
  readonly now: number
  readonly announce: (event: UserEvent) => void
}

/** Does what a request asks, all of it or nothing. Returns the envelope's `data`. @throws Refusal */
export type Rule<Name extends OperationName> = (request: RequestOf<Name>, context: RuleContext) => unknown
