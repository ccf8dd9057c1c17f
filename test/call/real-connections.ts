/** The real `setImmediate`. Tests fake the global one later. */
const nextTurn = setImmediate

const pending = new Set<Promise<unknown>>()

/** Records that a real connection is busy. Fake timers do not affect it. */
export function trackExchange(exchange: Promise<unknown>): void {
  const settled: Promise<unknown> = exchange.catch(() => undefined).finally(() => pending.delete(settled))
  pending.add(settled)
}

/** Resolves when no connection is busy and all events are processed. */
export async function whenIdle(): Promise<void> {
  for (;;) {
    await new Promise((resolve) => nextTurn(resolve))
    if (pending.size === 0) return
    await Promise.race(pending)
  }
}
