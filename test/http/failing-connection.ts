/** Node's `fetch` reads its dispatcher, such as a proxy agent, from this global symbol. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')

interface Handler {
  onConnect(abort: () => void): void
  onError(error: unknown): void
}

/** Makes the connections of the global `fetch` fail with an error. */
export async function withFailingConnections<T>(
  error: unknown,
  run: (attempts: () => number) => Promise<T>,
): Promise<T> {
  // Node sets its own dispatcher when `fetch` is first used.
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
