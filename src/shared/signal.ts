import type { OptionRule } from './options.ts'

// By its members, not by its class: signals of another realm or of a polyfill work as well.
export function isSignal(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  try {
    const { aborted, addEventListener, removeEventListener } = value as AbortSignal
    return (
      typeof aborted === 'boolean' &&
      typeof addEventListener === 'function' &&
      typeof removeEventListener === 'function'
    )
  } catch {
    // A Proxy may throw; it is not a signal that anybody can listen to.
    return false
  }
}

/** An option that is to abort something. */
export const signalRule: OptionRule = (value) => (isSignal(value) ? undefined : 'must be an AbortSignal')
