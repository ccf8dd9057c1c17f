import { InvalidArgumentError } from 'commander'
import { mustBeRegistrationPath } from '../endpoints/undocumented-options.ts'
import { type Command, type Context, decimal, hostName, httpUrl, port, RepeatableOption } from './command.ts'
import type { DevFlags } from './dev.ts'

/** `campaign-client dev` */
export function define(command: Command, context: Context): void {
  command
    .description(
      'Runs a local copy of the service at /api/v1, and a console at / that shows every request. Programs control it ' +
        'under /control/. Prints the URL first.',
    )
    .option('--port <port>', 'port to listen on; 0: any free port', port, 4600)
    .option('--open', 'open the console in the browser')
    .option('--seed <file>', 'start with a seed saved by the console')
    .addOption(new RepeatableOption('--webhook <url>', 'register a webhook', httpUrl))
    .addOption(new RepeatableOption('--endpoint-host <name>', 'allow webhook messages to this host', hostName))
    .option('--token <token>', 'accept only this token (default: any token)', bearerToken)
    .option('--registration-path <path>', 'path below /api/v1 at which webhooks are registered', registrationPath)
    .option('--host <address>', 'address to listen on, for containers', '127.0.0.1')
    .addOption(
      new RepeatableOption('--allowed-host <name>', 'allow requests to this host name; needed with --host', hostName),
    )
    .option(
      '--rate-limit <n>',
      'requests per second of each token; more get 429 (default: no limit)',
      requestsPerSecond,
    )
    .option('--quiet', 'do not print requests and deliveries')
    .examples(
      'dev --open',
      'dev --webhook http://127.0.0.1:3000/webhooks/campaign',
      'dev --seed campaign-seed.json --port 0',
      'dev --host 0.0.0.0 --allowed-host campaign --endpoint-host app',
    )
    .run(async (flags: DevFlags) => {
      const { dev } = await import('./dev.ts')
      return dev(flags, context)
    })
}

/** Accepts a token that fits into an Authorization header. The message does not repeat the token. */
function bearerToken(text: string): string {
  // `!` to `~`, without the comma.
  if (/^[!-+\--~]+$/.test(text)) return text
  throw new InvalidArgumentError('It must consist of visible ASCII characters, without spaces and commas.')
}

function registrationPath(path: string): string {
  const issue = mustBeRegistrationPath(path)
  if (issue === undefined) return path
  throw new InvalidArgumentError(`It ${typeof issue === 'string' ? issue : 'is not valid'}.`)
}

function requestsPerSecond(text: string): number {
  const limit = decimal(text)
  if (limit > 0 && limit <= 1_000_000) return limit
  throw new InvalidArgumentError('It must be above 0 and at most 1000000.')
}
