/** On the global object, because the ESM and the CommonJS copy of this module are one package to whoever reads the log. */
const WARNED: unique symbol = Symbol.for('campaign-client.parsed-body')

/** Not the global of Node's types: browsers and most edge runtimes have no `process`, some have half of one. */
interface Scope {
  [WARNED]?: boolean
  process?: { emitWarning?: (text: string) => void }
}

/** Says, once per process, that a verification can never succeed because something parsed the body before it. */
export function warnOfParsedBody(): void {
  const scope: Scope = globalThis as never
  if (scope[WARNED]) return
  scope[WARNED] = true
  const text =
    'verifyWebhook: pass the raw body (string, Uint8Array or ArrayBuffer), not a parsed one. In Express: express.raw()'
  if (scope.process?.emitWarning) scope.process.emitWarning(text)
  else console.warn(text)
}
