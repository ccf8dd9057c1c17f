/** Whether a timer keeps the process alive until it fires, where there is such a thing: on Node, Bun and Deno. */
export function holdProcess(timer: unknown, holds: boolean): void {
  if (typeof timer !== 'object' || timer === null) return
  const method: unknown = Reflect.get(timer, holds ? 'ref' : 'unref')
  if (typeof method === 'function') method.call(timer)
}
