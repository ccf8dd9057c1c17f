/** The globals that exist in only some runtimes. */
interface Scope {
  [topic: symbol]: boolean | undefined
  process?: { emitWarning?: (text: string) => void }
}

/**
 * Emits a warning once per process. Uses the console if the runtime has no process warnings.
 *
 * @param topic - identifies the warning. It is recorded on the global object, because the ESM and the CommonJS copy of the
 *   package may both be loaded
 */
export function warnOnce(topic: string, text: string): void {
  const scope: Scope = globalThis as never
  const warned = Symbol.for(`campaign-client.${topic}`)
  if (scope[warned]) return
  scope[warned] = true
  if (scope.process?.emitWarning) scope.process.emitWarning(text)
  else console.warn(text)
}
