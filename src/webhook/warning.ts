/** On the global object, because the ESM and the CommonJS copy of this module are one package to whoever reads the log. */
const WARNED = Symbol.for('campaign-client.parsed-body-warning')

/** Says, once per process, that a verification can never succeed because something parsed the body before it. */
export function warnOfParsedBody(): void {
  if (Reflect.has(globalThis, WARNED)) return
  Reflect.set(globalThis, WARNED, true)
  const text =
    'verifyWebhook() got a body that is already parsed, so no signature can match. Pass the raw body: the string, ' +
    'Uint8Array or ArrayBuffer exactly as it arrived (Express: express.raw({ type: "*/*" }) on this route; ' +
    'fetch handlers: await request.arrayBuffer()).'
  // Not the global of Node's types: browsers and most edge runtimes have no `process`, some have half of one.
  const { process } = globalThis as { process?: { emitWarning?: (text: string, type: string) => void } }
  if (typeof process?.emitWarning === 'function') process.emitWarning(text, 'CampaignClientWarning')
  else console.warn(text)
}
