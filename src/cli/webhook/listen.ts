import { once } from 'node:events'
import { constants } from 'node:fs'
import { access, mkdir, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { Option } from 'commander'
import { hasForeignOrigin } from '../../console/server/guard.ts'
import { readBytes } from '../../shared/byte-chunks.ts'
import { toJsonText, tryParseJson } from '../../shared/text.ts'
import { diagnoseWebhook, type Finding } from '../../webhook/diagnose.ts'
import { type Command, type Context, httpUrl, port, text, wholeNumberFlag } from '../command.ts'
import { webhookSecretOf } from '../connection.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { CommandFailure, listenFailure } from '../failure.ts'
import { fileFailure, systemReason } from '../files.ts'
import { bold, cyan, dim, foreignJsonText, green, type Output, type Part, red, yellow } from '../output.ts'
import { postBytes, type ReceiverResponse, textOf } from './post-bytes.ts'
import { headersFileOf, issueLines, type Verification, verifyMessage } from './saved-message.ts'

interface ListenFlags {
  readonly port: number
  readonly host: string
  readonly forwardTo?: string
  readonly status?: number
  readonly count?: number
  readonly within?: number
  readonly body?: boolean
  readonly save?: string
}

/** `campaign-client webhook listen` */
export function defineListen(command: Command, context: Context): void {
  command
    .description(
      'Receives messages, verifies each with CAMPAIGN_WEBHOOK_SECRET and shows it. --forward-to sends the same bytes ' +
        'and headers to your receiver, and returns its response to the sender.',
    )
    .option('--port <port>', 'port to listen on; 0: any free port', port, 4601)
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--forward-to <url>', 'URL of your receiver, which gets every message', httpUrl)
    .addOption(
      new Option('--status <status>', 'respond to every message with this status')
        .argParser(wholeNumberFlag(200, 599))
        .conflicts('forwardTo'),
    )
    .option('--count <n>', 'stop after this many messages', wholeNumberFlag(1, 1_000_000_000))
    .option(
      '--within <seconds>',
      'stop after this many seconds; exit code 4 if --count is not reached',
      wholeNumberFlag(1, 86_400),
    )
    .option('--body', 'print the body of each message')
    .option('--save <folder>', 'write the body and the headers of each message, for `verify` and `diagnose`', text)
    .examples(
      'webhook listen',
      'webhook listen --forward-to http://127.0.0.1:3000/webhooks/campaign',
      'webhook listen --count 1 --within 60 --json',
      'webhook listen --save messages',
    )
    .run((flags: ListenFlags) => listen(flags, context))
}

async function listen(flags: ListenFlags, { output, env, interrupts }: Context): Promise<ExitCode> {
  const { save: folder } = flags
  if (folder !== undefined) await makeFolder(folder)
  const options = { secret: webhookSecretOf(env), forwardTo: flags.forwardTo, status: flags.status, folder }
  const counts = { received: 0, verified: 0, wrong: 0 }
  let isUnsaved = false
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  interrupts.abortOnFirst().addEventListener('abort', stop)
  const server = createServer((request, response) => {
    receive(request, response, options).then(record, () => response.destroy())
  })
  function record(message: Received | undefined): void {
    if (message === undefined) return
    counts.received++
    if (message.examined) counts[message.examined.valid ? 'verified' : 'wrong']++
    if (message.unsaved !== undefined) {
      isUnsaved = true
      output.err.line(red('error'), ` the message was not saved: ${message.unsaved}`)
    }
    output.printSafely(() => show(message, flags, output))
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
  return counts.wrong > 0 || isUnsaved ? EXIT.incomplete : EXIT.done
}

/** Creates the folder of `--save`. @throws CommandFailure when it cannot be written */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true })
    await access(folder, constants.W_OK)
  } catch (error) {
    throw fileFailure(`--save "${folder}" cannot be written`, error)
  }
}

function show(message: Received, { body: showsBody }: ListenFlags, output: Output): void {
  const { at, path, examined, findings = [], forwarded, status, saved, body } = message
  const { out } = output
  if (output.json) {
    const { unsaved: _, ...fields } = message
    output.result({ message: fields })
    return
  }
  const indent = ' '.repeat(10)
  out.line(dim(at.slice(11, 19)), '  ', ...verificationParts(examined), dim(`  ${path}  → ${status}`))
  if (examined?.valid && examined.reason) {
    out.line(indent, yellow(`the body is not a webhook message: ${examined.reason}`))
  }
  for (const parts of issueLines(examined?.issues)) out.line(indent, ...parts)
  for (const finding of findings) out.line(indent, yellow(finding.code), '  ', finding.message)
  if (forwarded) {
    const { error, advice, text, ms } = forwarded
    out.line(
      indent,
      'forwarded  ',
      error ? red(error) : cyan(String(forwarded.status)),
      `  ${text.slice(0, 200)}`,
      dim(`  ${ms} ms`),
    )
    if (advice) out.line(indent, dim('↳ '), advice)
  }
  if (saved !== undefined) out.line(indent, dim('saved  '), saved)
  if (showsBody) out.write(`${indented(body)}\n`)
}

function verificationParts(verification: Verification | undefined): Part[] {
  if (verification === undefined) return [yellow('not verified')]
  const { valid, kind = 'signed', id = '', reason = '' } = verification
  return valid ? [green('verified'), `  ${kind}  `, dim(id)] : [red('wrong signature'), `  ${reason}`]
}

/** Formats a body as JSON. A body that is not JSON becomes a JSON string. */
const indented = (body: string): string => foreignJsonText(tryParseJson(body, body)).replace(/^/gm, '          ')

/** A received message and the responses to it. */
interface Received {
  readonly at: string
  readonly path: string
  readonly body: string
  /** The values of the signature header. */
  readonly signature?: readonly string[]
  /** Absent without a secret. */
  readonly examined?: Verification
  /** Why the signature is wrong. */
  readonly findings?: readonly Finding[]
  /** The response of the receiver at `--forward-to`. */
  readonly forwarded?: {
    readonly status?: number
    readonly contentType?: string
    readonly text: string
    readonly error?: string
    /** What to do about the error. */
    readonly advice?: string
    readonly ms: number
  }
  /** The status of the response to the sender. */
  readonly status: number
  /** The file with the body, in the folder of `--save`. */
  readonly saved?: string
  /** Why the message could not be saved. */
  readonly unsaved?: string
}

interface ReceiveOptions {
  readonly secret: string | undefined
  readonly forwardTo: string | undefined
  /** @defaultValue 200, or 401 for a wrong signature */
  readonly status: number | undefined
  /** The folder of `--save`. */
  readonly folder: string | undefined
}

const MAX_BODY_BYTES = 1_048_576
const MAX_RESPONSE_BYTES = 16 * 1_048_576
const FORWARD_TIMEOUT_MS = 30_000

/** Verifies, saves and forwards a message, and responds to it. Resolves to `undefined` for a request that cannot be a message. */
async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { secret, forwardTo, status: givenStatus, folder }: ReceiveOptions,
): Promise<Received | undefined> {
  const at = new Date().toISOString()
  if (request.method !== 'POST') {
    response.writeHead(405, { allow: 'POST' }).end('webhook messages are sent with POST')
    return undefined
  }
  // Unlike in `dev`, any `Host` is allowed: a tunnel passes on its own host name.
  if (hasForeignOrigin(request.headers.origin, request.headers.host)) {
    response.writeHead(403).end('pages of other origins may not send messages')
    return undefined
  }
  const { bytes: body, isWhole } = await readBytes(request, MAX_BODY_BYTES)
  if (!isWhole) {
    response.writeHead(413).end(`a message must not be larger than ${MAX_BODY_BYTES} bytes`)
    return undefined
  }
  const signature = request.headersDistinct['x-service-signature']
  const examined = secret === undefined ? undefined : verifyMessage(secret, body, signature)
  const isWrong = secret !== undefined && examined?.valid === false
  const saved = folder === undefined ? {} : await saveMessage(folder, at, body, request.headersDistinct)
  const forwarded = forwardTo === undefined ? undefined : await forward(forwardTo, request, body)
  const status = forwarded ? (forwarded.status ?? 502) : (givenStatus ?? (isWrong ? 401 : 200))
  response.writeHead(status, forwarded && withoutConnectionHeaders(forwarded.headers)).end(forwarded?.body)
  // The command may end after this message: wait until the response is sent, or the sender has closed the connection.
  await finished(response).catch(() => undefined)
  return {
    at,
    path: request.url ?? '/',
    body: new TextDecoder().decode(body),
    ...(signature && { signature }),
    ...(examined && { examined }),
    ...(isWrong && { findings: diagnoseWebhook(secret, body, signature) }),
    ...(forwarded && { forwarded: shownResponse(forwarded) }),
    status,
    ...saved,
  }
}

/** Counts the saved messages, so that two messages of the same millisecond have different names. */
let savedCount = 0

/** Writes the body and the headers of a message to two files. Returns the name of the body file, or why it failed. */
async function saveMessage(
  folder: string,
  at: string,
  body: Uint8Array,
  headers: IncomingMessage['headersDistinct'],
): Promise<Pick<Received, 'saved' | 'unsaved'>> {
  savedCount++
  const saved = join(folder, `${at.replaceAll(':', '-')}-${savedCount}.body`)
  try {
    await writeFile(saved, body, { flag: 'wx', mode: 0o600 })
    await writeFile(headersFileOf(saved), `${toJsonText(headers)}\n`, { flag: 'wx', mode: 0o600 })
    return { saved }
  } catch (error) {
    return { unsaved: systemReason(error as NodeJS.ErrnoException) }
  }
}

function shownResponse(result: ReceiverResponse): NonNullable<Received['forwarded']> {
  const { status, headers, error, advice, ms } = result
  const [contentType] = headers['content-type'] ?? []
  return {
    ...(status !== undefined && { status }),
    ...(contentType && { contentType }),
    text: textOf(result),
    ...(error !== undefined && { error }),
    ...(advice !== undefined && { advice }),
    ms,
  }
}

/** Headers of one connection, which must not be forwarded. */
const CONNECTION_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

const withoutConnectionHeaders = (headers: IncomingMessage['headersDistinct']): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, values]) =>
      CONNECTION_HEADERS.has(name) || values === undefined ? [] : [[name, values]],
    ),
  )

/** Sends the bytes and headers of a message to another server. An informational or incomplete response is an error. */
async function forward(url: string, request: IncomingMessage, message: Uint8Array): Promise<ReceiverResponse> {
  const limits = { timeoutMs: FORWARD_TIMEOUT_MS, maxBytes: MAX_RESPONSE_BYTES }
  const result = await postBytes(url, withoutConnectionHeaders(request.headersDistinct), message, limits)
  const { status, isComplete, body, ms } = result
  if (status === undefined) return result
  const failed = (error: string): ReceiverResponse => ({
    headers: {},
    body: new Uint8Array(),
    isComplete: false,
    error,
    ms,
  })
  if (status < 200) return failed(`status ${status} is not a final response`)
  if (isComplete) return result
  const isTooLarge = body.length === MAX_RESPONSE_BYTES
  return failed(isTooLarge ? `the response is larger than ${MAX_RESPONSE_BYTES} bytes` : 'the response was cut off')
}
