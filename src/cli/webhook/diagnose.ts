import type { Command } from 'commander'
import { examples } from '../commands.ts'
import type { Context } from '../context.ts'
import { requiredWebhookSecretOf } from '../environment.ts'
import { EXIT, type ExitCode } from '../failure.ts'
import { readInput } from '../files.ts'
import { green, yellow } from '../output.ts'

/** `campaign-client webhook diagnose` */
export function define(command: Command, context: Context): void {
  command
    .description(
      'Explains why the signature of a saved message does not match, and what to do. Exit code 0: it matches; 1: it does not.',
    )
    .argument('<file>', 'the body as your handler received it; - for standard input')
    .requiredOption('--signature <hex>', 'the value of the x-service-signature header')
    .addHelpText(
      'after',
      examples(
        'webhook diagnose body.json --signature "$SIGNATURE"',
        'webhook diagnose - --signature "$SIGNATURE" --json < body.json',
      ),
    )
    .action(context.action((file: string, flags: { signature: string }) => diagnose(file, flags.signature, context)))
}

async function diagnose(file: string, signature: string, { output, env }: Context): Promise<ExitCode> {
  const secret = requiredWebhookSecretOf(env)
  const body = await readInput(file)
  const { diagnoseWebhook } = await import('campaign-client/webhook')
  const findings = diagnoseWebhook(secret, body, signature)
  output.result({ matches: findings.length === 0, findings }, (out) => {
    if (findings.length === 0) out.line(green('the signature matches'))
    for (const { code, message } of findings) out.line(yellow(code), '  ', message)
  })
  return findings.length === 0 ? EXIT.done : EXIT.notAll
}
