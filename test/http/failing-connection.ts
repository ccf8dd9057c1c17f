/** Where the fetch of Node looks for what opens its connections; a partner's proxy agent is put there, too. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')

interface Handler {
  onConnect(abort: () => void): void
  onError(error: unknown): void
}

/** Lets the platform's own `fetch` fail to connect, or lose its connection, with the given error. */
export async function withFailingConnections<T>(
  error: unknown,
  run: (attempts: () => number) => Promise<T>,
): Promise<T> {
  // Node sets its own when the first `fetch` loads.
  await fetch('data:,').then((response) => response.text())
  const before = Reflect.get(globalThis, DISPATCHER)
  let attempts = 0
  Reflect.set(globalThis, DISPATCHER, {
    dispatch(_options: unknown, handler: Handler): boolean {
      attempts++
      handler.onConnect(() => undefined)
      handler.onError(error)
      return true
    },
  })
  try {
    return await run(() => attempts)
  } finally {
    Reflect.set(globalThis, DISPATCHER, before)
  }
}
