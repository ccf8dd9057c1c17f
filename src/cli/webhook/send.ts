import { Option } from 'commander'
import { adviceOnStatus } from '../../shared/receiver-advice.ts'
import { tryParseJson } from '../../shared/text.ts'
import { isRecord } from '../../shared/type-checks.ts'
import type { WebhookEvent } from '../../webhook/event.ts'
import { signWebhook } from '../../webhook/signature.ts'
import { type Command, type Context, httpUrl, type Pair, pair, RepeatableOption, wholeNumberFlag } from '../command.ts'
import { requiredWebhookSecretOf } from '../connection.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { CommandFailure, usageFailure } from '../failure.ts'
import { readInput } from '../files.ts'
import { dim, green, type Output, red } from '../output.ts'
import { postBytes, textOf } from './post-bytes.ts'
import { issueLines, verifyMessage } from './saved-message.ts'

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
export function defineSend(command: Command, context: Context): void {
  command
    .description(
      'Signs a message with CAMPAIGN_WEBHOOK_SECRET, as the service does, and sends it to your receiver. The payloads of ' +
        'user_login, user_reward and referral are assumed: the API description does not show them.',
    )
    .argument('<url>', 'the URL of your receiver', httpUrl)
    .addOption(new Option('--kind <kind>', 'kind of message').choices(MESSAGE_KINDS).default('action_completed'))
    .addOption(
      new Option('--file <file>', 'send the bytes of a file; - for standard input').conflicts(['set', 'id', 'sameId']),
    )
    .addOption(
      new RepeatableOption('--set <path=value>', 'set a field, for example event.data.xp=70 or wallet=null', pair),
    )
    .option('--id <id>', 'id of the message')
    .option('--times <n>', 'number of messages to send, one after the other', wholeNumberFlag(1, 10_000), 1)
    .option('--same-id', 'send duplicates: all messages have the same id')
    .addOption(
      new Option('--wrong-signature', 'sign with another secret; the receiver must refuse the message').conflicts(
        'unsigned',
      ),
    )
    .option('--unsigned', 'send no signature; the receiver must refuse the message')
    .option(
      '--expect <status>',
      'the expected status (default: 2xx, or 401 for a wrong or missing signature)',
      wholeNumberFlag(100, 599),
    )
    .option('--timeout <ms>', 'time limit of a response, in milliseconds', wholeNumberFlag(1, 2_147_483_647), 10_000)
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
    output.err.line(dim(`the payload of "${flags.kind}" is assumed: the API description does not show it`))
  }
  let sharedId = flags.id
  const deliveries: SentMessage[] = []
  const signal = interrupts.abortOnFirst()
  const limits = { timeoutMs: flags.timeout, maxBytes: MAX_RESPONSE_BYTES, signal }
  for (let index = 0; index < flags.times && !signal.aborted; index++) {
    const body = file ?? (await createBody(flags, sharedId))
    const id = idOf(body)
    if (flags.sameId) sharedId ??= id
    const headers = {
      'content-type': 'application/json',
      ...(secret !== undefined && { 'x-service-signature': signWebhook(secret, body) }),
    }
    const posted = await postBytes(url, headers, body, limits)
    const { status, error, advice, ms } = posted
    const [contentType] = posted.headers['content-type'] ?? []
    const [location] = posted.headers.location ?? []
    const delivery: SentMessage = {
      ...(status !== undefined && { status }),
      ...(contentType && { contentType }),
      ...(location && { location }),
      text: textOf(posted).trim(),
      ...(error !== undefined && { error }),
      ...(advice !== undefined && { advice }),
      ms,
      ...(id !== undefined && { id }),
      ...issuesOf(body),
      expected: isExpected(status, flags),
    }
    deliveries.push(delivery)
    if (!output.json) show(delivery, flags, output)
  }
  const result = {
    sent: deliveries.length,
    asExpected: deliveries.filter(({ expected }) => expected).length,
    response: deliveries,
  }
  const failure = interrupts.received ? undefined : failureOf(deliveries, flags, result)
  if (failure) throw failure
  output.result(result)
  interrupts.raise()
  return EXIT.done
}

function secretOf({ unsigned, wrongSignature }: SendFlags, env: NodeJS.ProcessEnv): string | undefined {
  if (unsigned) return undefined
  // A random secret gives a well-formed signature. The receiver must compare it, not only check its format.
  return wrongSignature ? crypto.randomUUID() : requiredWebhookSecretOf(env)
}

async function createBody({ kind, set = [] }: SendFlags, id: string | undefined): Promise<Uint8Array> {
  const message = await createMessage(kind)
  if (id !== undefined) message.id = id
  setFields(message, set)
  try {
    return new TextEncoder().encode(JSON.stringify(message))
  } catch {
    throw usageFailure('--set: a value is nested too deeply')
  }
}

/** A message that was sent: the response to it, or the reason why there was none. */
interface SentMessage {
  readonly status?: number
  readonly contentType?: string
  /** The Location header of a redirect. */
  readonly location?: string
  /** The beginning of the response body. */
  readonly text: string
  readonly error?: string
  /** What to do about the error. */
  readonly advice?: string
  readonly ms: number
  /** The `id` of the message, if it has one. */
  readonly id?: string
  /** The fields of the message that are missing or differ from the API description. */
  readonly issues?: WebhookEvent['issues']
  /** Whether the status is as expected. */
  readonly expected: boolean
}

const MAX_RESPONSE_BYTES = 1024

/** Returns the issues that a receiver finds in a message, if the body is a message. */
function issuesOf(body: Uint8Array): Pick<SentMessage, 'issues'> {
  // The secret does not matter: `verifyMessage` parses a message only if its signature is right.
  const { issues } = verifyMessage('any', body, signWebhook('any', body))
  return issues === undefined ? {} : { issues }
}

function idOf(message: Uint8Array): string | undefined {
  const body = tryParseJson(new TextDecoder().decode(message))
  return isRecord(body) && typeof body.id === 'string' ? body.id : undefined
}

function isExpected(status: number | undefined, { expect, wrongSignature, unsigned }: SendFlags): boolean {
  if (status === undefined) return false
  if (expect !== undefined) return status === expect
  return wrongSignature || unsigned ? status === 401 : isSuccess(status)
}

const isSuccess = (status = 0): boolean => status >= 200 && status < 300

function show(delivery: SentMessage, { expect, wrongSignature, unsigned }: SendFlags, { out }: Output): void {
  const { status, location, ms, text, error, id, issues, expected } = delivery
  const colour = expected ? green : red
  const isRefusalExpected = expect !== undefined || wrongSignature || unsigned
  out.line(
    colour(status ?? '---'),
    `  ${error ?? (text || '(empty response)')}`,
    location === undefined ? '' : `  → ${location}`,
    expected && isRefusalExpected ? green('  as expected') : '',
    dim(`  ${ms} ms${id ? `, id ${id}` : ''}`),
  )
  for (const parts of issueLines(issues)) out.line('     ', ...parts)
}

function failureOf(
  deliveries: readonly SentMessage[],
  flags: SendFlags,
  result: Readonly<Record<string, unknown>>,
): CommandFailure | undefined {
  const { wrongSignature, unsigned } = flags
  const countOf = ({ length }: readonly SentMessage[]): string =>
    `${length} of ${deliveries.length} message${deliveries.length === 1 ? '' : 's'}`
  const unexpected = deliveries.filter(({ expected }) => !expected)
  // Report forgeries first: they are worse than failed deliveries.
  const forgeries = wrongSignature || unsigned ? unexpected.filter(({ status }) => isSuccess(status)) : []
  if (forgeries.length > 0) {
    const message = `the receiver accepted ${countOf(forgeries)} with a ${unsigned ? 'missing' : 'wrong'} signature`
    const advice = 'verify the signature before anything else, for example with createWebhookReceiver'
    return new CommandFailure(EXIT.incomplete, 'forgery_accepted', message, { advice, result })
  }
  const withoutResponse = unexpected.filter(({ status }) => status === undefined)
  const [silent] = withoutResponse
  if (silent !== undefined) {
    const { error, advice } = silent
    return new CommandFailure(EXIT.unreachable, 'network', `no response to ${countOf(withoutResponse)}: ${error}`, {
      advice: advice ?? 'check the URL, and that the receiver is running',
      result,
    })
  }
  const [first] = unexpected
  if (first?.status === undefined) return undefined
  const { status, location } = first
  const message = `unexpected status ${status} for ${countOf(unexpected.filter((other) => other.status === status))}`
  const advice = flags.expect === undefined ? adviceOnStatus(status, location) : undefined
  return new CommandFailure(EXIT.incomplete, 'unexpected_status', message, { advice, result })
}

/** A user and a campaign in the demo data of the local service. */
const SUBJECT = { account: 'ada', platform: 'discord', pid: 'demo' } as const

/**
 * Creates a message of each kind. The payloads of `user_login`, `user_reward` and `referral` are assumed: the API
 * description does not show them.
 */
const CREATORS = {
  action_completed: () => emitted({ kind: 'action_completed', aid: 'follow' }),
  quest_completed: () => emitted({ kind: 'quest_completed', cid: 'welcome' }),
  test: testMessage,
  user_login: () => assumed('user_login', { type: 'login', data: { account: SUBJECT.account } }),
  user_reward: () =>
    assumed('user_reward', { type: 'reward_claimed', data: { reward: { id: 'reward-1', type: 'xp' }, xp: 50 } }),
  referral: () => assumed('referral', { type: 'referral', data: { referral: 'grace', referrer: SUBJECT.account } }),
} satisfies Record<string, () => Promise<Message>>

type MessageKind = keyof typeof CREATORS
type Message = Record<string, unknown>

const MESSAGE_KINDS = Object.keys(CREATORS) as readonly MessageKind[]

/** Returns whether the API description shows the payload of this kind. */
const isDocumented = (kind: MessageKind): boolean =>
  kind === 'action_completed' || kind === 'quest_completed' || kind === 'test'

/** Creates a message with a new `id`. */
const createMessage = async (kind: MessageKind): Promise<Message> => CREATORS[kind]()

/** Sets fields by path, for example `event.data.xp`. A value that is not JSON is a string. */
function setFields(message: Message, changes: readonly Pair[]): void {
  for (const [path, value] of changes) {
    const steps = path.split('.')
    const last = steps.pop() as string
    let target = message
    for (const step of steps) {
      const next: unknown = Object.hasOwn(target, step) ? target[step] : undefined
      if (typeof next !== 'object' || next === null) {
        throw usageFailure(`--set: the message has no object that can hold "${path}"`)
      }
      target = next as Message
    }
    Object.defineProperty(target, last, {
      value: tryParseJson(value, value),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
}

type DemoEvent = { kind: 'action_completed'; aid: string } | { kind: 'quest_completed'; cid: string }

async function emitted(event: DemoEvent): Promise<Message> {
  const { createCampaignService } = await import('../../testing/campaign-service.ts')
  return JSON.parse(createCampaignService().emit({ ...SUBJECT, ...event }).body)
}

async function testMessage(): Promise<Message> {
  const { createCampaignService } = await import('../../testing/campaign-service.ts')
  const service = createCampaignService({ deliver: () => new Response() })
  service.registerWebhook({ url: 'http://127.0.0.1/' })
  return JSON.parse((await service.testWebhook(SUBJECT)).Payload)
}

/** Creates a message with an assumed scope and event. */
async function assumed(scope: string, event: unknown): Promise<Message> {
  return { ...(await emitted({ kind: 'action_completed', aid: 'follow' })), scope, event }
}
