import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Option } from 'commander'
import { tryParseJson } from '../../shared/text/json.ts'
import { toJsonText } from '../../shared/text/visible-text.ts'
import type { Command, Context } from '../commands.ts'
import { webhookSecretOf } from '../environment.ts'
import { CommandFailure, EXIT, type ExitCode, listenFailure } from '../failure.ts'
import { httpUrl, port, wholeNumber } from '../flags.ts'
import { bold, cyan, dim, green, type Output, type Part, red, yellow } from '../output.ts'
import { type Received, receive } from './receive.ts'
import type { Verification } from './verify-message.ts'

interface ListenFlags {
  readonly port: number
  readonly host: string
  readonly forwardTo?: string
  readonly status?: number
  readonly count?: number
  readonly within?: number
  readonly body?: boolean
}

/** `campaign-client webhook listen` */
export function define(command: Command, context: Context): void {
  command
    .description(
      'Receives messages, verifies each with CAMPAIGN_WEBHOOK_SECRET and shows it. --forward-to sends the same bytes ' +
        'and headers to your server, and returns its answer to the sender.',
    )
    .option('--port <port>', 'port to listen on; 0: any free port', port, 4601)
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--forward-to <url>', 'URL of your server, which gets every message', httpUrl)
    .addOption(
      new Option('--status <status>', 'answer every message with this status')
        .argParser(wholeNumber(200, 599))
        .conflicts('forwardTo'),
    )
    .option('--count <n>', 'stop after this many messages', wholeNumber(1, 1_000_000_000))
    .option(
      '--within <seconds>',
      'stop after this many seconds; exit code 4 if --count is not reached',
      wholeNumber(1, 86_400),
    )
    .option('--body', 'print the body of each message')
    .examples(
      'webhook listen',
      'webhook listen --forward-to http://127.0.0.1:3000/webhooks/campaign',
      'webhook listen --count 1 --within 60 --json',
    )
    .run((flags: ListenFlags) => listen(flags, context))
}

async function listen(flags: ListenFlags, { output, env, interrupts }: Context): Promise<ExitCode> {
  const options = { secret: webhookSecretOf(env), forwardTo: flags.forwardTo, status: flags.status }
  const counts = { received: 0, verified: 0, wrong: 0 }
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  interrupts.signal.addEventListener('abort', stop)
  const server = createServer((request, response) => {
    receive(request, response, options).then(record, () => response.destroy())
  })
  function record(message: Received | undefined): void {
    if (message === undefined) return
    counts.received++
    if (message.examined) counts[message.examined.valid ? 'verified' : 'wrong']++
    show(message, flags, output)
    if (counts.received === flags.count) stop()
  }

  server.listen(flags.port, flags.host)
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw listenFailure(error, flags.port, flags.host)
  })
  const { address, family, port } = server.address() as AddressInfo
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/`
  output.err.line('listening at ', bold(url), dim('  (press Ctrl-C to stop)'))
  if (options.secret === undefined)
    output.err.line(yellow('signatures are not verified'), ': CAMPAIGN_WEBHOOK_SECRET is not set')
  output.out.closed.addEventListener('abort', stop)
  const timer = flags.within === undefined ? undefined : setTimeout(stop, flags.within * 1000)
  if (!stopping.signal.aborted) await once(stopping.signal, 'abort')
  clearTimeout(timer)
  server.close().closeAllConnections()

  if (flags.count !== undefined && flags.within !== undefined && counts.received < flags.count) {
    const message = `${counts.received} of ${flags.count} messages arrived within ${flags.within} s`
    throw new CommandFailure(EXIT.unreachable, 'too_few_messages', message, { result: counts })
  }
  output.result(counts)
  return counts.wrong > 0 ? EXIT.incomplete : EXIT.done
}

function show(message: Received, { body }: ListenFlags, output: Output): void {
  const { at, path, examined, forwarded, answered } = message
  const { out } = output
  if (output.json) {
    output.result({ message })
    return
  }
  out.line(dim(at.slice(11, 19)), '  ', ...verificationParts(examined), dim(`  ${path}  → ${answered}`))
  if (examined?.valid && examined.reason)
    out.line(yellow(`          the body is not a webhook message: ${examined.reason}`))
  if (forwarded) {
    const { status, error, text, ms } = forwarded
    out.line(
      '          forwarded  ',
      error ? red(error) : cyan(String(status)),
      `  ${text.slice(0, 200)}`,
      dim(`  ${ms} ms`),
    )
  }
  if (body) out.write(`${indented(message.body)}\n`)
}

function verificationParts(verification: Verification | undefined): Part[] {
  if (verification === undefined) return [yellow('not verified')]
  const { valid, kind = 'signed', id = '', reason = '' } = verification
  return valid ? [green('verified'), `  ${kind}  `, dim(id)] : [red('wrong signature'), `  ${reason}`]
}

/** Formats a body as JSON. A body that is not JSON becomes a JSON string. */
const indented = (body: string): string => toJsonText(tryParseJson(body, body)).replace(/^/gm, '          ')
