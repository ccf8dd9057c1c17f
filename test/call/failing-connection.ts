/** Node's `fetch` reads its dispatcher, such as a proxy agent, from a global symbol: the second one since Node.js 26. */
const DISPATCHERS = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')]

/** The handler of a request: `onConnect` and `onError` until Node.js 24, the others since Node.js 26. */
interface Handler {
  onConnect?(abort: () => void): void
  onError?(error: unknown): void
  onRequestStart?(controller: object, context: object): void
  onResponseError?(controller: object, error: unknown): void
}

/** Makes the connections of the global `fetch` fail with an error. */
export async function withFailingConnections<T>(
  error: unknown,
  run: (attempts: () => number) => Promise<T>,
): Promise<T> {
  // Node sets its own dispatchers when `fetch` is first used.
  await fetch('data:,').then((response) => response.text())
  const before = DISPATCHERS.map((symbol) => [symbol, Reflect.get(globalThis, symbol)] as const)
  let attempts = 0
  const dispatcher = {
    dispatch(_options: unknown, handler: Handler): boolean {
      attempts++
      const controller = { abort: () => undefined }
      handler.onConnect?.(controller.abort)
      handler.onRequestStart?.(controller, {})
      if (handler.onResponseError) handler.onResponseError(controller, error)
      else handler.onError?.(error)
      return true
    },
  }
  for (const symbol of DISPATCHERS) Reflect.set(globalThis, symbol, dispatcher)
  try {
    return await run(() => attempts)
  } finally {
    for (const [symbol, value] of before) {
      if (value === undefined) Reflect.deleteProperty(globalThis, symbol)
      else Reflect.set(globalThis, symbol, value)
    }
  }
}
