/**
 * Calls a hook of the partner's. Whatever it throws, now or later, is given to `onFailure` or dropped: a logger that
 * fails must not cost an award.
 */
export function callHook(hook: () => unknown, onFailure: (reason: unknown) => void = () => undefined): void {
  try {
    const result = hook()
    // Whatever can reject, a promise of another library or realm as well: unheard, it would end the process.
    if (typeof result === 'object' && result !== null) Promise.resolve(result).catch(onFailure)
  } catch (reason) {
    onFailure(reason)
  }
}
