import type { OptionRule } from './options.ts'

// By its members, not by its class: signals of another realm or of a polyfill work as well.
export const isSignal = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as AbortSignal).aborted === 'boolean' &&
  typeof (value as AbortSignal).addEventListener === 'function' &&
  typeof (value as AbortSignal).removeEventListener === 'function'

/** An option that is to abort something. */
export const signalRule: OptionRule = (value) => (isSignal(value) ? undefined : 'must be an AbortSignal')
