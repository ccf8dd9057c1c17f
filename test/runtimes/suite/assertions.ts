/** Fails unless both values are the same. */
export function equal(actual: unknown, expected: unknown, label = 'value'): void {
  if (!Object.is(actual, expected)) throw new Error(`${label}: expected ${show(expected)}, got ${show(actual)}`)
}

/** Fails unless `actual` has all fields of `expected`. Arrays must have the same length and order. */
export function matches(actual: unknown, expected: unknown, label = 'value'): void {
  if (typeof expected !== 'object' || expected === null) {
    equal(actual, expected, label)
    return
  }
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual) !== Array.isArray(expected)) {
    throw new Error(`${label}: expected ${show(expected)}, got ${show(actual)}`)
  }
  if (Array.isArray(expected)) equal(Reflect.get(actual, 'length'), expected.length, `${label}.length`)
  for (const [key, value] of Object.entries(expected)) matches(Reflect.get(actual, key), value, `${label}.${key}`)
}

/** Fails unless both have the same content. The order of fields does not matter. */
export function same(actual: unknown, expected: unknown): void {
  matches(actual, expected)
  matches(expected, actual)
}

/** Fails unless `value` is an instance of `type`. */
export function instance<Instance>(
  value: unknown,
  // biome-ignore lint/suspicious/noExplicitAny: constructors with any parameters are accepted
  type: abstract new (...args: any[]) => Instance,
): Instance {
  if (value instanceof type) return value
  throw new Error(`expected an instance of ${type.name}, got ${show(value)}`, { cause: value })
}

/** Returns the rejection of a promise. Fails if it resolves. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const value = await promise.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  )
  if ('error' in value) return value.error
  throw new Error(`expected a rejection, got ${show(value.result)}`)
}

/** Returns the error of a function. Fails if it throws none. */
export function thrown(run: () => unknown): unknown {
  let value: unknown
  try {
    value = run()
  } catch (error) {
    return error
  }
  throw new Error(`expected a throw, got ${show(value)}`)
}

function show(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`
  if (typeof value === 'function') return `function ${value.name}`
  return (typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)).slice(0, 500)
}
