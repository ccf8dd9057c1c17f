/** The longest delay of a timer, in milliseconds. A timer with a longer delay fires at once. */
export const MAX_TIMER_MS = 2_147_483_647

/** Sets whether a timer keeps the process alive. Has an effect on Node, Bun and Deno. */
export function keepProcessAlive(timer: unknown, keep: boolean): void {
  if (typeof timer !== 'object' || timer === null) return
  const method: unknown = Reflect.get(timer, keep ? 'ref' : 'unref')
  if (typeof method === 'function') method.call(timer)
}
