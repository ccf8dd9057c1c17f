/**
 * Calls a hook of the partner. What it throws, or rejects with later, goes to `onFailure` and no further: a logger that
 * fails must not cost an award.
 */
export function callHook(hook: () => unknown, onFailure: (reason: unknown) => void = () => undefined): void {
  try {
    const result = hook()
    // Promises of other libraries too: an unhandled rejection would end the process.
    if (typeof result === 'object' && result !== null) Promise.resolve(result).catch(onFailure)
  } catch (reason) {
    onFailure(reason)
  }
}
