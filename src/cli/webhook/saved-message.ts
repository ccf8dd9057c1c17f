import type { Command } from 'commander'
import { type Context, examples } from '../commands.ts'
import { requiredWebhookSecretOf } from '../environment.ts'
import { EXIT } from '../failure.ts'
import { readInput } from '../files.ts'
import type { Output } from '../output.ts'

/** The body of a message from a file, and the header with its signature. */
export interface SavedMessage {
  readonly body: Uint8Array
  readonly signature: string
  /** The secret from CAMPAIGN_WEBHOOK_SECRET. */
  readonly secret: string
}

/** Defines a command that checks the signature of a saved message. Exit code 0: the signature is right; 1: it is wrong. */
export function defineCheck(
  command: Command,
  { action, env, output }: Context,
  check: (message: SavedMessage, output: Output) => Promise<boolean>,
): void {
  const name = command.name()
  command
    .argument('<file>', 'the raw body, byte for byte; - for standard input')
    .requiredOption('--signature <hex>', 'the value of the x-service-signature header')
    .addHelpText(
      'after',
      examples(
        `webhook ${name} body.json --signature "$SIGNATURE"`,
        `webhook ${name} - --signature "$SIGNATURE" --json < body.json`,
      ),
    )
    .action(
      action(async (file: string, { signature }: { signature: string }) => {
        const secret = requiredWebhookSecretOf(env)
        const isRight = await check({ body: await readInput(file), signature, secret }, output)
        return isRight ? EXIT.done : EXIT.incomplete
      }),
    )
}
