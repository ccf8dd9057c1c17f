import type { Command, Context } from '../commands.ts'
import { requiredWebhookSecretOf } from '../environment.ts'
import { EXIT } from '../failure.ts'
import { readInput } from '../files.ts'
import type { Output } from '../output.ts'

export interface SavedMessage {
  readonly secret: string
  readonly body: Uint8Array
  /** The value of the signature header. */
  readonly signature: string
}

/** Defines a command that checks the signature of a saved message. `check` returns whether the signature is right. */
export function defineCheck(
  command: Command,
  { env, output }: Context,
  purpose: string,
  check: (message: SavedMessage, output: Output) => boolean,
): void {
  const name = command.name()
  command
    .description(`${purpose} Exit code 0: the signature is right; 1: it is wrong.`)
    .argument('<file>', 'the raw body, byte for byte; - for standard input')
    .requiredOption('--signature <hex>', 'the value of the x-service-signature header')
    .examples(
      `webhook ${name} body.json --signature "$SIGNATURE"`,
      `webhook ${name} - --signature "$SIGNATURE" --json < body.json`,
    )
    .run(async (file: string, { signature }: { signature: string }) => {
      const secret = requiredWebhookSecretOf(env)
      const isRight = check({ secret, body: await readInput(file), signature }, output)
      return isRight ? EXIT.done : EXIT.incomplete
    })
}
