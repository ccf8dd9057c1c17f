/**
 * Calls a hook of the caller. Passes an exception or a rejection to `onFailure`, so that a failing logger does not fail the
 * operation.
 */
export function callHook(hook: () => unknown, onFailure: (reason: unknown) => void = () => undefined): void {
  try {
    const result = hook()
    // An unhandled rejection would end the process. `Promise.resolve` also accepts promises of other libraries.
    if (typeof result === 'object' && result !== null) Promise.resolve(result).catch(onFailure)
  } catch (reason) {
    onFailure(reason)
  }
}
