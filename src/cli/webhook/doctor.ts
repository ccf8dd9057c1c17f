import type { Command } from 'commander'
import { requiredWebhookSecretOf } from '../environment.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { readInput } from '../files.ts'
import { examples, type Frame } from '../frame.ts'
import { green, yellow } from '../output.ts'

/** `campaign-client webhook doctor` */
export function define(command: Command, frame: Frame): void {
  command
    .description(
      'Says why the signature of a saved message does not match, and what to do. Exit code 0: it does match.',
    )
    .argument('<file>', 'the body as your handler got it; - for standard input')
    .requiredOption('--signature <hex>', 'the value of the x-service-signature header, as it arrived')
    .addHelpText('after', examples('webhook doctor body.json --signature "$SIGNATURE"'))
    .action(frame.action((file: string, flags: { signature: string }) => examine(file, flags.signature, frame)))
}

async function examine(file: string, signature: string, { output, env }: Frame): Promise<ExitCode> {
  const secret = requiredWebhookSecretOf(env)
  const body = await readInput(file)
  const { diagnoseWebhook } = await import('campaign-client/webhook')
  const findings = diagnoseWebhook(secret, body, signature)
  output.result({ matches: findings.length === 0, findings }, (out) => {
    if (findings.length === 0) out.line(green('The signature matches.'))
    for (const { code, message } of findings) out.line(yellow(code), '  ', message)
  })
  return findings.length === 0 ? EXIT.done : EXIT.notAll
}
