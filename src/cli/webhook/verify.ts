import type { Command } from 'commander'
import { requiredWebhookSecretOf } from '../environment.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { readInput } from '../files.ts'
import { examples, type Frame } from '../frame.ts'
import { dim, green, red } from '../output.ts'
import { examine } from './examine.ts'

/** `campaign-client webhook verify` */
export function define(command: Command, frame: Frame): void {
  command
    .description('Checks the signature of a message that was saved byte for byte. Exit code 0: right, 1: wrong.')
    .argument('<file>', 'the raw body; - for standard input')
    .requiredOption('--signature <hex>', 'the value of the x-service-signature header')
    .addHelpText('after', examples('webhook verify body.json --signature "$SIGNATURE"'))
    .action(frame.action((file: string, flags: { signature: string }) => verify(file, flags.signature, frame)))
}

async function verify(file: string, signature: string, { output, env }: Frame): Promise<ExitCode> {
  const secret = requiredWebhookSecretOf(env)
  const found = await examine(secret, await readInput(file), signature)
  const { valid, id, kind, reason } = found
  output.result({ ...found }, (out) => {
    if (!valid) out.line(red('wrong'), dim(`  ${reason}`))
    else if (reason === undefined) out.line(green('right'), dim(`  ${kind}, id ${id}`))
    else out.line(green('right'), dim(`  but not a message: ${reason}`))
  })
  if (valid) return EXIT.done
  output.err.line(dim('`campaign-client webhook doctor` with the same arguments looks for the cause'))
  return EXIT.notAll
}
