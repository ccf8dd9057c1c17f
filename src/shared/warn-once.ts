/** Not the global of Node's types: some runtimes have no `process`, some only parts of it. */
interface Scope {
  [topic: symbol]: boolean | undefined
  process?: { emitWarning?: (text: string) => void }
}

/**
 * Warns once per process: by a process warning, or on the console where there are none.
 *
 * @param topic - identifies the warning. Recorded on the global object, so that the ESM and the CommonJS copy of the
 *   package warn once together.
 */
export function warnOnce(topic: string, text: string): void {
  const scope: Scope = globalThis as never
  const warned = Symbol.for(`campaign-client.${topic}`)
  if (scope[warned]) return
  scope[warned] = true
  if (scope.process?.emitWarning) scope.process.emitWarning(text)
  else console.warn(text)
}
