import { isRecord } from '../../shared/type-checks.ts'
import { signatureOf } from '../webhooks/webhook-message.ts'
import type { Webhook } from '../webhooks/webhook-registry.ts'
import type { DeliveryFaultOptions } from './fault-options.ts'

type Message = Readonly<Record<string, unknown>>

/** Whether a fault affects a message. */
export function isAffected(message: Message, fault: DeliveryFaultOptions): boolean {
  const type = isRecord(message.event) ? message.event.type : undefined
  if (fault.scope !== undefined && fault.scope !== message.scope) return false
  if (fault.type !== undefined && fault.type !== type) return false
  return fault.kind !== 'missing_field' || findField(message, fault.field) !== undefined
}

/** Returns the body and the signature to send. Only `bad_signature` and `missing_field` change them. */
export function applyDeliveryFault(
  fault: DeliveryFaultOptions | undefined,
  body: string,
  webhook: Webhook,
): { readonly body: string; readonly signature: string | undefined } {
  if (fault?.kind === 'bad_signature') return { body, signature: wrongSignature(signatureOf(webhook, body)) }
  if (fault?.kind !== 'missing_field') return { body, signature: signatureOf(webhook, body) }
  const message: Message = JSON.parse(body)
  const found = findField(message, fault.field)
  if (found) delete found.parent[found.name]
  const rest = JSON.stringify(message)
  return { body: rest, signature: signatureOf(webhook, rest) }
}

/** Returns a well-formed signature that does not match. */
const wrongSignature = (signature = '0'.repeat(64)): string =>
  (signature.startsWith('0') ? '1' : '0') + signature.slice(1)

/** Returns the name of a field and the object that has it. */
function findField(
  message: Message,
  dottedPath: string,
): { readonly parent: Record<string, unknown>; readonly name: string } | undefined {
  const names = dottedPath.split('.')
  const name = names.pop() as string
  let parent: unknown = message
  for (const step of names) parent = isRecord(parent) && Object.hasOwn(parent, step) ? parent[step] : undefined
  return isRecord(parent) && Object.hasOwn(parent, name) ? { parent, name } : undefined
}
