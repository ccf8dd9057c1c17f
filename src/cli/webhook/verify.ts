import type { Command, Context } from '../commands.ts'
import { dim, green, type Output, red } from '../output.ts'
import { defineCheck, type SavedMessage } from './define-check.ts'
import { verifyMessage } from './verify-message.ts'

/** `campaign-client webhook verify` */
export const define = (command: Command, context: Context): void =>
  defineCheck(command, context, 'Checks the signature of a saved message.', verify)

function verify({ secret, body, signature }: SavedMessage, output: Output): boolean {
  const verification = verifyMessage(secret, body, signature)
  const { valid, id, kind, reason } = verification
  output.result({ ...verification }, (out) => {
    if (!valid) out.line(red('the signature is wrong'), dim(`  ${reason}`))
    else if (reason === undefined) out.line(green('the signature is right'), dim(`  ${kind}, id ${id}`))
    else out.line(green('the signature is right'), dim(`  but the body is not a webhook message: ${reason}`))
  })
  if (!valid) output.err.line(dim('next: '), 'run `webhook diagnose` with the same arguments to find the cause')
  return valid
}
