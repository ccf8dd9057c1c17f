/**
 * Calls a hook of the partner. Passes its error, thrown or rejected, to `onFailure`: a logger that fails must not fail the
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
