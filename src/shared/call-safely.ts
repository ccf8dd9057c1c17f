/**
 * Calls a function of the caller, such as a hook. Passes an exception or a rejection to `onFailure`, so that a failing
 * logger does not fail the operation.
 */
export function callSafely(call: () => unknown, onFailure: (reason: unknown) => void = () => undefined): void {
  try {
    const result = call()
    // An unhandled rejection would end the process. `Promise.resolve` also accepts promises of other libraries.
    if (typeof result === 'object' && result !== null) Promise.resolve(result).catch(onFailure)
  } catch (reason) {
    onFailure(reason)
  }
}
