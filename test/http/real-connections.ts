/** Taken before any test fakes it. */
const nextTurn = setImmediate

const underWay = new Set<Promise<unknown>>()

/** Says that something is on its way over a real connection, which no faked clock moves. */
export function onItsWay(exchange: Promise<unknown>): void {
  const settled: Promise<unknown> = exchange.catch(() => undefined).finally(() => underWay.delete(settled))
  underWay.add(settled)
}

/** Resolves when nothing is on its way, nor anything that follows from what has just arrived. */
export async function allQuiet(): Promise<void> {
  for (;;) {
    await new Promise((resolve) => nextTurn(resolve))
    if (underWay.size === 0) return
    await Promise.race(underWay)
  }
}
