/** Not the global of Node's types: browsers and most edge runtimes have no `process`, some have half of one. */
interface Scope {
  [topic: symbol]: boolean | undefined
  process?: { emitWarning?: (text: string) => void }
}

/**
 * Says something once per process: as a process warning, and on the console where there are none.
 *
 * @param topic - what it is about. Remembered on the global object, because the ESM and the CommonJS copy of this module
 *   are one package to whoever reads the log.
 */
export function warnOnce(topic: string, text: string): void {
  const scope: Scope = globalThis as never
  const warned = Symbol.for(`campaign-client.${topic}`)
  if (scope[warned]) return
  scope[warned] = true
  if (scope.process?.emitWarning) scope.process.emitWarning(text)
  else console.warn(text)
}
