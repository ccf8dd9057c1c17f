/** On the global object, because the ESM and the CommonJS copy of this module are one package to whoever reads the log. */
const WARNED = Symbol.for('campaign-client.parsed-body')

/** Says, once per process, that a verification can never succeed because something parsed the body before it. */
export function warnOfParsedBody(): void {
  if (Reflect.has(globalThis, WARNED)) return
  // Stryker disable next-line BooleanLiteral: that it is there is what counts
  Reflect.set(globalThis, WARNED, true)
  const text =
    'verifyWebhook: rawBody must be the string, Uint8Array or ArrayBuffer that arrived; got it parsed. ' +
    'In Express, use express.raw().'
  // Not the global of Node's types: browsers and most edge runtimes have no `process`, some have half of one.
  const { process } = globalThis as { process?: { emitWarning?: (text: string) => void } }
  if (process?.emitWarning) process.emitWarning(text)
  else console.warn(text)
}
