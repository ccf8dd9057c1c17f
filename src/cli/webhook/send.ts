import { type Command, Option } from 'commander'
import { webhookSecretOf } from '../environment.ts'
import { CommandFailure, EXIT, type ExitCode, usageFailure } from '../exit.ts'
import { readInput } from '../files.ts'
import { collectPairs, httpUrl, type Pair, wholeNumber } from '../flags.ts'
import { examples, type Frame } from '../frame.ts'
import { dim, green, type Output, red } from '../output.ts'
import { change, createMessage, isShown, MESSAGE_KINDS, type MessageKind } from './message.ts'
import { type Answer, post } from './post.ts'

interface SendFlags {
  readonly kind: MessageKind
  readonly file?: string
  readonly set?: readonly Pair[]
  readonly id?: string
  readonly times: number
  readonly sameId?: boolean
  readonly wrongSignature?: boolean
  readonly unsigned?: boolean
  readonly expect?: number
  readonly timeout: number
}

/** `campaign-client webhook send` */
export function define(command: Command, frame: Frame): void {
  command
    .description(
      'Sends a message to an endpoint, signed with CAMPAIGN_WEBHOOK_SECRET as the service signs it. What the interface ' +
        'does not show about the kinds user_login, user_reward and referral is assumed.',
    )
    .argument('<url>', 'the endpoint', httpUrl)
    .addOption(new Option('--kind <kind>', 'kind of message').choices(MESSAGE_KINDS).default('action_completed'))
    .addOption(
      new Option('--file <file>', 'send these bytes as they are; - for standard input').conflicts([
        'set',
        'id',
        'sameId',
      ]),
    )
    .option(
      '--set <path=value>',
      'change a field, such as event.data.xp=70; may be repeated, with another path',
      collectPairs,
    )
    .option('--id <id>', 'the id of the message, to send one again')
    .option('--times <n>', 'how many messages, one after the other', wholeNumber(1, 10_000), 1)
    .option('--same-id', 'give all of them one id, as duplicates have')
    .addOption(new Option('--wrong-signature', 'sign with another secret: it must be refused').conflicts('unsigned'))
    .option('--unsigned', 'send no signature: it must be refused')
    .option(
      '--expect <status>',
      'the status to expect (default: 2xx, or 401 for a wrong signature)',
      wholeNumber(100, 599),
    )
    .option('--timeout <ms>', 'how long an answer may take', wholeNumber(1, 2_147_483_647), 10_000)
    .addHelpText(
      'after',
      examples(
        'webhook send http://127.0.0.1:3000/webhooks/campaign',
        'webhook send http://127.0.0.1:3000/webhooks/campaign --kind quest_completed --set event.data.xp=70',
        'webhook send http://127.0.0.1:3000/webhooks/campaign --times 2 --same-id',
        'webhook send http://127.0.0.1:3000/webhooks/campaign --wrong-signature',
      ),
    )
    .action(frame.action((url: string, flags: SendFlags) => send(url, flags, frame)))
}

async function send(url: string, flags: SendFlags, { output, env, interrupts }: Frame): Promise<ExitCode> {
  const sign = await signerOf(flags, env)
  const bodies = await bodiesOf(flags)
  if (!flags.file && !isShown(flags.kind)) {
    output.err.line(dim(`the interface does not show the message "${flags.kind}": its fields are assumed`))
  }
  const sent: (Answer & { expected: boolean })[] = []
  for (let index = 0; index < flags.times && !interrupts.signal.aborted; index++) {
    const body = await bodies()
    const answer = await post(url, body, sign(body), { timeoutMs: flags.timeout, signal: interrupts.signal })
    const expected = isExpected(answer, flags)
    sent.push({ ...answer, expected })
    if (!output.json) show(answer, expected, output)
  }
  const result = { sent: sent.length, asExpected: sent.filter(({ expected }) => expected).length, answers: sent }
  const { received } = interrupts
  const failure = received ? undefined : failureOf(sent, flags, result)
  if (failure) throw failure
  output.result(result, () => undefined)
  if (received) interrupts.dieOf(received)
  return EXIT.done
}

type Sign = (body: Uint8Array) => string | undefined

async function signerOf(flags: SendFlags, env: NodeJS.ProcessEnv): Promise<Sign> {
  if (flags.unsigned) return () => undefined
  // Another secret makes a signature of the right form, so that only the comparison can tell.
  const secret = flags.wrongSignature ? crypto.randomUUID() : webhookSecretOf(env)
  if (secret === undefined) {
    throw usageFailure('CAMPAIGN_WEBHOOK_SECRET is not set', 'put the secret of the endpoint there, or use --unsigned')
  }
  const { signWebhook } = await import('campaign-client/webhook')
  return (body) => signWebhook(secret, body)
}

async function bodiesOf({
  file,
  kind,
  set = [],
  id,
  sameId,
}: SendFlags): Promise<() => Promise<Uint8Array<ArrayBuffer>>> {
  if (file !== undefined) {
    const bytes = await readInput(file)
    return async () => bytes
  }
  let sharedId = id
  return async () => {
    const message = await createMessage(kind)
    if (sameId) sharedId ??= String(message.id)
    if (sharedId !== undefined) message.id = sharedId
    change(message, set)
    return new TextEncoder().encode(JSON.stringify(message))
  }
}

function isExpected({ status }: Answer, { expect, wrongSignature, unsigned }: SendFlags): boolean {
  if (status === undefined) return false
  if (expect !== undefined) return status === expect
  return wrongSignature || unsigned ? status === 401 : status >= 200 && status < 300
}

function show({ status, ms, text, error, id }: Answer, expected: boolean, { out }: Output): void {
  const mark = expected ? green(status ?? '---') : red(status ?? '---')
  out.line(mark, `  ${error ?? (text === '' ? '(no text)' : text)}`, dim(`  ${ms} ms${id ? `, id ${id}` : ''}`))
}

function failureOf(
  sent: readonly (Answer & { expected: boolean })[],
  { wrongSignature, unsigned }: SendFlags,
  result: Readonly<Record<string, unknown>>,
): CommandFailure | undefined {
  const unexpected = sent.filter(({ expected }) => !expected)
  const [first] = unexpected
  if (!first) return undefined
  const count = `${unexpected.length} of ${sent.length}`
  if (first.status === undefined) {
    const what = `${count} got no answer: ${first.error}`
    return new CommandFailure(EXIT.unreachable, 'network', what, 'is the endpoint up, and its URL right?', result)
  }
  if ((wrongSignature || unsigned) && first.status >= 200 && first.status < 300) {
    return new CommandFailure(
      EXIT.notAll,
      'forgery_accepted',
      `the endpoint accepted ${count} messages whose signature is ${unsigned ? 'missing' : 'wrong'}`,
      'it must verify the signature before anything else: see createWebhookReceiver',
      result,
    )
  }
  const what = `${count} got another answer than expected`
  return new CommandFailure(EXIT.refused, 'unexpected_status', what, undefined, result)
}
