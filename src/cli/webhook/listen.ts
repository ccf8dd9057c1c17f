import { once } from 'node:events'
import { createServer } from 'node:http'
import { type Command, Option } from 'commander'
import { toJsonText } from '../../shared/text/visible-text.ts'
import { examples } from '../commands.ts'
import type { Context } from '../context.ts'
import { webhookSecretOf } from '../environment.ts'
import { CommandFailure, EXIT, type ExitCode } from '../failure.ts'
import { httpUrl, port, wholeNumber } from '../flags.ts'
import { closeServer, listenOn } from '../http-server.ts'
import { bold, cyan, dim, green, type Output, type Part, red, yellow } from '../output.ts'
import { type Received, receive } from './receive.ts'

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
      'Receives messages, verifies each with CAMPAIGN_WEBHOOK_SECRET and shows it. --forward-to passes the same bytes ' +
        'and headers on to your server, and its answer back to the sender.',
    )
    .option('--port <port>', 'port to listen on; 0 takes a free one', port, 4601)
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--forward-to <url>', 'your server: it gets every message', httpUrl)
    .addOption(
      new Option('--status <status>', 'answer with this status, to see how the sender reacts')
        .argParser(wholeNumber(200, 599))
        .conflicts('forwardTo'),
    )
    .option('--count <n>', 'end after this many messages', wholeNumber(1, 1_000_000_000))
    .option(
      '--within <seconds>',
      'end after this many seconds; exit code 4 when --count was not reached',
      wholeNumber(1, 86_400),
    )
    .option('--body', 'print the body of each message')
    .addHelpText(
      'after',
      examples(
        'webhook listen',
        'webhook listen --forward-to http://127.0.0.1:3000/webhooks/campaign',
        'webhook listen --count 1 --within 60 --json',
      ),
    )
    .action(context.action((flags: ListenFlags) => listen(flags, context)))
}

async function listen(flags: ListenFlags, { output, env, interrupts }: Context): Promise<ExitCode> {
  const options = { secret: webhookSecretOf(env), forwardTo: flags.forwardTo, status: flags.status }
  const counts = { received: 0, verified: 0, wrong: 0 }
  const ending = new AbortController()
  const end = () => ending.abort()
  interrupts.signal.addEventListener('abort', end)
  const server = createServer((request, response) => {
    receive(request, response, options).then(note, () => response.destroy())
  })
  function note(message: Received | undefined): void {
    if (message === undefined) return
    counts.received++
    if (message.examined) counts[message.examined.valid ? 'verified' : 'wrong']++
    show(message, flags, output)
    if (counts.received === flags.count) end()
  }

  const url = await listenOn(server, flags.port, flags.host)
  output.err.line('listening at ', bold(url), dim('  (Ctrl-C ends it)'))
  if (options.secret === undefined)
    output.err.line(yellow('signatures are not verified'), ': CAMPAIGN_WEBHOOK_SECRET is not set')
  output.out.whenClosed(end)
  const timer = flags.within === undefined ? undefined : setTimeout(end, flags.within * 1000)
  if (!ending.signal.aborted) await once(ending.signal, 'abort')
  clearTimeout(timer)
  await closeServer(server)

  if (flags.count !== undefined && flags.within !== undefined && counts.received < flags.count) {
    const what = `${counts.received} of ${flags.count} messages arrived within ${flags.within} s`
    throw new CommandFailure(EXIT.unreachable, 'too_few_messages', what, undefined, counts)
  }
  output.result(counts, () => undefined)
  return counts.wrong > 0 ? EXIT.notAll : EXIT.done
}

function show(message: Received, { body }: ListenFlags, output: Output): void {
  const { at, path, examined, forwarded, answered } = message
  const { out } = output
  if (output.json) {
    output.result({ message }, () => undefined)
    return
  }
  out.line(dim(at.slice(11, 19)), '  ', ...verification(message), dim(`  ${path}  → ${answered}`))
  if (examined?.reason && examined.valid)
    out.line(yellow(`          signed, but not a webhook message: ${examined.reason}`))
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

function verification({ examined }: Received): Part[] {
  if (examined === undefined) return [yellow('not verified')]
  const { valid, kind = 'signed', id = '', reason = '' } = examined
  return valid ? [green('verified'), `  ${kind}  `, dim(id)] : [red('wrong signature'), `  ${reason}`]
}

function indented(body: string): string {
  let value: unknown = body
  try {
    value = JSON.parse(body)
  } catch {
    // Not JSON: printed as a JSON string.
  }
  return toJsonText(value).replace(/^/gm, '          ')
}
