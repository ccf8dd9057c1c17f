import { diagnoseWebhook } from 'campaign-client/webhook'
import type { Command, Context } from '../commands.ts'
import { green, type Output, yellow } from '../output.ts'
import { defineCheck, type SavedMessage } from './define-check.ts'

/** `campaign-client webhook diagnose` */
export const define = (command: Command, context: Context): void =>
  defineCheck(command, context, 'Explains why the signature of a saved message is wrong.', diagnose)

function diagnose({ secret, body, signature }: SavedMessage, output: Output): boolean {
  const findings = diagnoseWebhook(secret, body, signature)
  const matches = findings.length === 0
  output.result({ matches, findings }, (out) => {
    if (matches) out.line(green('the signature is right'))
    for (const { code, message } of findings) out.line(yellow(code), '  ', message)
  })
  return matches
}
