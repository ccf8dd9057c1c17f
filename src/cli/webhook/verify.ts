import type { Command } from 'commander'
import { examples } from '../commands.ts'
import type { Context } from '../context.ts'
import { requiredWebhookSecretOf } from '../environment.ts'
import { EXIT, type ExitCode } from '../failure.ts'
import { readInput } from '../files.ts'
import { dim, green, red } from '../output.ts'
import { examine } from './examine.ts'

/** `campaign-client webhook verify` */
export function define(command: Command, context: Context): void {
  command
    .description('Checks the signature of a saved message. Exit code 0: the signature is right; 1: it is wrong.')
    .argument('<file>', 'the raw body, byte for byte; - for standard input')
    .requiredOption('--signature <hex>', 'the value of the x-service-signature header')
    .addHelpText(
      'after',
      examples(
        'webhook verify body.json --signature "$SIGNATURE"',
        'webhook verify - --signature "$SIGNATURE" --json < body.json',
      ),
    )
    .action(context.action((file: string, flags: { signature: string }) => verify(file, flags.signature, context)))
}

async function verify(file: string, signature: string, { output, env }: Context): Promise<ExitCode> {
  const secret = requiredWebhookSecretOf(env)
  const found = await examine(secret, await readInput(file), signature)
  const { valid, id, kind, reason } = found
  output.result({ ...found }, (out) => {
    if (!valid) out.line(red('the signature is wrong'), dim(`  ${reason}`))
    else if (reason === undefined) out.line(green('the signature is right'), dim(`  ${kind}, id ${id}`))
    else out.line(green('the signature is right'), dim(`  signed, but not a webhook message: ${reason}`))
  })
  if (valid) return EXIT.done
  output.err.line(dim('next: '), 'find the cause with `npx campaign-client webhook diagnose` and the same arguments')
  return EXIT.notAll
}
