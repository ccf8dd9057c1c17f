import type { ClientHooks } from '../options.ts'
import { callHook } from '../shared/call-hook.ts'

/** Calls a hook, with an event that is made for it alone. What it does to it, and its failure, now or later, are its own. */
export function notify<Name extends keyof ClientHooks>(
  hooks: ClientHooks | undefined,
  name: Name,
  event: () => Parameters<NonNullable<ClientHooks[Name]>>[0],
): void {
  if (hooks !== undefined) callHook(() => hooks[name]?.(event() as never))
}
