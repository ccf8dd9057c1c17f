import { isRecord } from '../../shared/type-checks.ts'
import type { DeliveryFaultOptions } from './fault-options.ts'

/** The payload of a webhook message. */
export type DeliveredMessage = Readonly<Record<string, unknown>>

/** Whether a fault affects a message. */
export function isAffected(message: DeliveredMessage, fault: DeliveryFaultOptions): boolean {
  const type = isRecord(message.event) ? message.event.type : undefined
  if (fault.scope !== undefined && fault.scope !== message.scope) return false
  if (fault.type !== undefined && fault.type !== type) return false
  return fault.kind !== 'missing_field' || parentOf(message, fault.field) !== undefined
}

/** Returns the payload without a field, as JSON. */
export function withoutField(body: string, field: string): string {
  const message: DeliveredMessage = JSON.parse(body)
  const parent = parentOf(message, field)
  if (parent) delete parent[nameOf(field)]
  return JSON.stringify(message)
}

/** Returns a signature of the right form that does not match. */
export const wrongSignature = (signature: string | undefined): string =>
  signature === undefined ? '0'.repeat(64) : (signature.startsWith('0') ? '1' : '0') + signature.slice(1)

/** Returns the object that has the field with a dotted path. */
function parentOf(message: DeliveredMessage, field: string): Record<string, unknown> | undefined {
  let parent: unknown = message
  for (const name of field.split('.').slice(0, -1)) parent = isRecord(parent) ? parent[name] : undefined
  return isRecord(parent) && Object.hasOwn(parent, nameOf(field)) ? parent : undefined
}

const nameOf = (field: string): string => field.split('.').at(-1) as string
