import { signWebhook } from 'campaign-client/webhook'
import { Option } from 'commander'
import { tryParseJson } from '../../shared/text/json.ts'
import { isRecord } from '../../shared/type-checks.ts'
import type { Command, Context } from '../commands.ts'
import { requiredWebhookSecretOf } from '../environment.ts'
import { CommandFailure, EXIT, type ExitCode } from '../failure.ts'
import { readInput } from '../files.ts'
import { httpUrl, type Pair, pair, RepeatableOption, wholeNumber } from '../flags.ts'
import { dim, green, type Output, red } from '../output.ts'
import { createMessage, isDocumented, MESSAGE_KINDS, type MessageKind, setFields } from './create-message.ts'
import { type PostAnswer, postBytes } from './post-bytes.ts'

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
export function define(command: Command, context: Context): void {
  command
    .description(
      'Signs a message with CAMPAIGN_WEBHOOK_SECRET, as the service does, and sends it to an endpoint. The payloads of ' +
        'user_login, user_reward and referral are assumed: the interface does not document them.',
    )
    .argument('<url>', 'the endpoint', httpUrl)
    .addOption(new Option('--kind <kind>', 'kind of message').choices(MESSAGE_KINDS).default('action_completed'))
    .addOption(
      new Option('--file <file>', 'send the bytes of a file; - for standard input').conflicts(['set', 'id', 'sameId']),
    )
    .addOption(new RepeatableOption('--set <path=value>', 'set a field, for example event.data.xp=70', pair))
    .option('--id <id>', 'id of the message')
    .option('--times <n>', 'number of messages to send, one after the other', wholeNumber(1, 10_000), 1)
    .option('--same-id', 'send duplicates: all messages have the same id')
    .addOption(
      new Option('--wrong-signature', 'sign with another secret; the endpoint must refuse the message').conflicts(
        'unsigned',
      ),
    )
    .option('--unsigned', 'send no signature; the endpoint must refuse the message')
    .option(
      '--expect <status>',
      'the expected status (default: 2xx, or 401 for a wrong or missing signature)',
      wholeNumber(100, 599),
    )
    .option('--timeout <ms>', 'time limit of an answer, in milliseconds', wholeNumber(1, 2_147_483_647), 10_000)
    .examples(
      'webhook send http://127.0.0.1:3000/webhooks/campaign',
      'webhook send http://127.0.0.1:3000/webhooks/campaign --kind quest_completed --set event.data.xp=70',
      'webhook send http://127.0.0.1:3000/webhooks/campaign --times 2 --same-id',
      'webhook send http://127.0.0.1:3000/webhooks/campaign --wrong-signature',
    )
    .run((url: string, flags: SendFlags) => send(url, flags, context))
}

async function send(url: string, flags: SendFlags, { output, env, interrupts }: Context): Promise<ExitCode> {
  const secret = secretOf(flags, env)
  const file = flags.file === undefined ? undefined : await readInput(flags.file)
  if (file === undefined && !isDocumented(flags.kind)) {
    output.err.line(dim(`the payload of "${flags.kind}" is assumed: the interface does not document it`))
  }
  let sharedId = flags.id
  const answers: Answer[] = []
  const { signal } = interrupts
  const limits = { timeoutMs: flags.timeout, maxBytes: MAX_ANSWER_BYTES, signal }
  for (let index = 0; index < flags.times && !signal.aborted; index++) {
    const body = file ?? (await createBody(flags, sharedId))
    const id = idOf(body)
    if (flags.sameId) sharedId ??= id
    const headers = {
      'content-type': 'application/json',
      ...(secret !== undefined && { 'x-service-signature': signWebhook(secret, body) }),
    }
    const posted = await postBytes(url, headers, body, limits)
    const expected = isExpected(posted.status, flags)
    const answer = { ...posted, text: posted.text.trim(), ...(id !== undefined && { id }), expected }
    answers.push(answer)
    if (!output.json) show(answer, output)
  }
  const result = { sent: answers.length, asExpected: answers.filter(({ expected }) => expected).length, answers }
  const failure = interrupts.received ? undefined : failureOf(answers, flags, result)
  if (failure) throw failure
  output.result(result)
  interrupts.raise()
  return EXIT.done
}

function secretOf({ unsigned, wrongSignature }: SendFlags, env: NodeJS.ProcessEnv): string | undefined {
  if (unsigned) return undefined
  // A random secret gives a well-formed signature. The endpoint must compare it, not only check its format.
  return wrongSignature ? crypto.randomUUID() : requiredWebhookSecretOf(env)
}

async function createBody({ kind, set = [] }: SendFlags, id: string | undefined): Promise<Uint8Array> {
  const message = await createMessage(kind)
  if (id !== undefined) message.id = id
  setFields(message, set)
  return new TextEncoder().encode(JSON.stringify(message))
}

interface Answer extends PostAnswer {
  /** The `id` of the message, if it has one. */
  readonly id?: string
  /** Whether the status is as expected. */
  readonly expected: boolean
}

const MAX_ANSWER_BYTES = 1024

function idOf(message: Uint8Array): string | undefined {
  const body = tryParseJson(new TextDecoder().decode(message))
  return isRecord(body) && typeof body.id === 'string' ? body.id : undefined
}

function isExpected(status: number | undefined, { expect, wrongSignature, unsigned }: SendFlags): boolean {
  if (status === undefined) return false
  if (expect !== undefined) return status === expect
  return wrongSignature || unsigned ? status === 401 : status >= 200 && status < 300
}

function show({ status, ms, text, error, id, expected }: Answer, { out }: Output): void {
  const colour = expected ? green : red
  out.line(
    colour(status ?? '---'),
    `  ${error ?? (text || '(empty answer)')}`,
    dim(`  ${ms} ms${id ? `, id ${id}` : ''}`),
  )
}

function failureOf(
  answers: readonly Answer[],
  { wrongSignature, unsigned }: SendFlags,
  result: Readonly<Record<string, unknown>>,
): CommandFailure | undefined {
  const unexpected = answers.filter(({ expected }) => !expected)
  const [first] = unexpected
  if (!first) return undefined
  const count = `${unexpected.length} of ${answers.length} message${answers.length === 1 ? '' : 's'}`
  if (first.status === undefined) {
    const message = `no answer to ${count}: ${first.error}`
    const advice = 'check the URL, and that the endpoint is running'
    return new CommandFailure(EXIT.unreachable, 'network', message, { advice, result })
  }
  if ((wrongSignature || unsigned) && first.status >= 200 && first.status < 300) {
    const message = `the endpoint accepted ${count} with a ${unsigned ? 'missing' : 'wrong'} signature`
    const advice = 'verify the signature before anything else, for example with createWebhookReceiver'
    return new CommandFailure(EXIT.incomplete, 'forgery_accepted', message, { advice, result })
  }
  return new CommandFailure(EXIT.refused, 'unexpected_status', `unexpected status for ${count}`, { result })
}
