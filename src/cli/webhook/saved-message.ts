import { existsSync } from 'node:fs'
import { diagnoseWebhook } from '../../webhook/diagnose.ts'
import { safeParseWebhook, type WebhookEvent } from '../../webhook/event.ts'
import { type SignatureHeader, verifyWebhook } from '../../webhook/signature.ts'
import type { Command, Context } from '../command.ts'
import { requiredWebhookSecretOf } from '../connection.ts'
import { EXIT } from '../exit-codes.ts'
import { usageFailure } from '../failure.ts'
import { readInput, readJsonObject } from '../files.ts'
import { dim, green, type Output, type Part, red, yellow } from '../output.ts'

interface SavedMessage {
  readonly secret: string
  readonly body: Uint8Array
  readonly signature: SignatureHeader
}

/** Returns the name of the headers file that `listen --save` writes beside a body file. */
export const headersFileOf = (bodyFile: string): string => `${bodyFile.replace(/\.body$/, '')}.headers.json`

/** `campaign-client webhook verify` */
export const defineVerify = (command: Command, context: Context): void =>
  defineCheck(command, context, 'Checks the signature of a saved message.', verify)

/** `campaign-client webhook diagnose` */
export const defineDiagnose = (command: Command, context: Context): void =>
  defineCheck(command, context, 'Explains why the signature of a saved message is wrong.', diagnose)

/** Defines a command that checks the signature of a saved message. `check` returns whether the signature is right. */
function defineCheck(
  command: Command,
  { env, output }: Context,
  purpose: string,
  check: (message: SavedMessage, output: Output) => boolean,
): void {
  const name = command.name()
  command
    .description(`${purpose} Exit code 0: the signature is right; 1: it is wrong.`)
    .argument('<file>', 'the raw body, byte for byte; - for standard input')
    .option('--signature <hex>', 'the x-service-signature header (default: from the headers file of `listen --save`)')
    .examples(
      `webhook ${name} body.json --signature "$SIGNATURE"`,
      `webhook ${name} - --signature "$SIGNATURE" --json < body.json`,
      `webhook ${name} messages/2026-11-23T18-04-11.755Z-1.body`,
    )
    .run(async (file: string, { signature }: { signature?: string }) => {
      const secret = requiredWebhookSecretOf(env)
      const body = await readInput(file)
      const isRight = check({ secret, body, signature: signature ?? (await readSignature(file)) }, output)
      return isRight ? EXIT.done : EXIT.incomplete
    })
}

/** Reads the signature header of a message that `listen --save` wrote. */
async function readSignature(bodyFile: string): Promise<SignatureHeader> {
  const file = headersFileOf(bodyFile)
  if (bodyFile === '-' || !existsSync(file)) {
    throw usageFailure(
      '--signature is missing',
      bodyFile === '-' ? undefined : `pass the x-service-signature header: there is no file "${file}" to read it from`,
    )
  }
  const { 'x-service-signature': values } = await readJsonObject(file)
  if (values === undefined) return undefined
  if (Array.isArray(values) && values.every((value) => typeof value === 'string')) return values
  throw usageFailure(`"${file}" is not a headers file of \`webhook listen --save\``)
}

function verify({ secret, body, signature }: SavedMessage, output: Output): boolean {
  const verification = verifyMessage(secret, body, signature)
  const { valid, id, kind, reason } = verification
  output.result({ ...verification }, (out) => {
    if (!valid) out.line(red('the signature is wrong'), dim(`  ${reason}`))
    else if (reason === undefined) out.line(green('the signature is right'), dim(`  ${kind}, id ${id}`))
    else out.line(green('the signature is right'), dim(`  but the body is not a webhook message: ${reason}`))
    for (const parts of issueLines(verification.issues)) out.line(...parts)
  })
  if (!valid) output.err.line(dim('next: '), 'run `webhook diagnose` with the same arguments to find the cause')
  return valid
}

function diagnose({ secret, body, signature }: SavedMessage, output: Output): boolean {
  const findings = diagnoseWebhook(secret, body, signature)
  const matches = findings.length === 0
  output.result({ matches, findings }, (out) => {
    if (matches) out.line(green('the signature is right'))
    for (const { code, message } of findings) out.line(yellow(code), '  ', message)
  })
  return matches
}

/** The result of verifying a message. */
export interface Verification {
  /** Whether the signature is right. A signed body is valid even if it is not a webhook message. */
  readonly valid: boolean
  readonly id?: string
  readonly kind?: string
  /** Why a receiver must not handle the message. */
  readonly reason?: string
  /** The fields that are missing or differ from the API description. */
  readonly issues?: WebhookEvent['issues']
}

/** Verifies the signature of a message, then parses the message. */
export function verifyMessage(secret: string, body: Uint8Array, header: SignatureHeader): Verification {
  const result = safeParseWebhook(secret, body, header)
  if (result.ok) {
    const { id, kind, issues } = result.event
    return { valid: true, id, kind, issues }
  }
  return { valid: verifyWebhook(secret, body, header), reason: result.reason }
}

/** Formats the issues of a message, one per line. */
export const issueLines = (issues: WebhookEvent['issues'] = []): Part[][] =>
  issues.map(({ path, message }) => [
    yellow('unexpected shape'),
    path.length === 0 ? `  ${message}` : `  ${path.join('.')}: ${message}`,
  ])
