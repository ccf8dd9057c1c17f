import type { Command } from 'commander'
import type { Context } from '../commands.ts'
import { green, type Output, yellow } from '../output.ts'
import { defineCheck, type SavedMessage } from './saved-message.ts'

/** `campaign-client webhook diagnose` */
export function define(command: Command, context: Context): void {
  command.description(
    'Explains why the signature of a saved message is wrong. Exit code 0: the signature is right; 1: it is wrong.',
  )
  defineCheck(command, context, diagnose)
}

async function diagnose({ body, signature, secret }: SavedMessage, output: Output): Promise<boolean> {
  const { diagnoseWebhook } = await import('campaign-client/webhook')
  const findings = diagnoseWebhook(secret, body, signature)
  const matches = findings.length === 0
  output.result({ matches, findings }, (out) => {
    if (matches) out.line(green('the signature is right'))
    for (const { code, message } of findings) out.line(yellow(code), '  ', message)
  })
  return matches
}
