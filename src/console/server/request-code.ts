import { argumentsOf } from '../../endpoints/arguments.ts'
import { endpoints, type OperationName } from '../../endpoints/index.ts'
import { shellWord, toJsonLine } from '../../shared/text.ts'
import type { RequestRecord } from '../../testing/http/request-log.ts'
import type { DeliveryRecord } from '../../testing/webhooks/delivery.ts'

/** The parts of a request that the command contains. */
type CurlRequest = Pick<RequestRecord, 'method' | 'url' | 'headers' | 'bodyText'>

/** Headers that curl sets itself, and headers of the connection. */
const OMITTED_HEADERS =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|accept-encoding|accept-language|user-agent|expect|sec-.*)$/

const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** Linux limits an argument to 128 KiB. `printf` is part of the shell and has no limit. */
const MAX_ARGUMENT_LENGTH = 30_000

/** Returns the request as a command for sh. The command reads the token from the environment. The default token is `dev`. */
export function toCurl({ method, url, headers, bodyText }: CurlRequest): string {
  const parts = [start(url)]
  if (method === 'HEAD') parts.push('--head')
  else if (method !== 'GET' || bodyText !== undefined) parts.push(`-X ${shellWord(method)}`)
  parts.push(`-H "Authorization: Bearer \${CAMPAIGN_ACCESS_TOKEN:-dev}"`)
  for (const [name, value] of Object.entries(headers)) {
    if (!OMITTED_HEADERS.test(name)) parts.push(header(name, value))
  }
  // Without a type, curl would send that of a form.
  if (bodyText !== undefined && headers['content-type'] === undefined) parts.push("-H 'content-type:'")
  return method === 'HEAD' ? joined(parts) : withBody(parts, bodyText)
}

/** Returns a webhook message with its signature as a command for sh. */
export function deliveryToCurl({ url, body, signature }: Pick<DeliveryRecord, 'url' | 'body' | 'signature'>): string {
  const parts = [start(new URL(url).href), header('content-type', 'application/json')]
  if (signature !== undefined) parts.push(header('x-service-signature', signature))
  return withBody(parts, body)
}

/** Without `--globoff`, curl sends several requests for `[1-3]` and `{a,b}` in a URL. */
const start = (url: string): string => `curl --globoff ${shellWord(url)}`

function header(name: string, value: string): string {
  // curl removes a header with a colon and no value.
  if (value === '') return `-H ${shellWord(`${name};`)}`
  const line = `${name}: ${value}`
  // Headers have bytes, not UTF-8.
  return /^[ -~]*$/.test(value) ? `-H ${shellWord(line)}` : `-H "$(${printf(line, 'latin1')})"`
}

const joined = (parts: readonly string[]): string => parts.join(' \\\n  ')

function withBody(parts: readonly string[], body: string | undefined): string {
  if (body === undefined) return joined(parts)
  // A terminal interprets pasted control characters even within quotes. Let printf write them instead.
  return CONTROL.test(body) || body.length > MAX_ARGUMENT_LENGTH
    ? joined([`${printf(body, 'utf8')} |`, ...parts, '--data-binary @-'])
    : joined([...parts, `--data-raw ${shellWord(body)}`])
}

const UNPRINTABLE = { utf8: new RegExp(CONTROL, 'gu'), latin1: /[^ -~]/g }

function printf(text: string, encoding: 'utf8' | 'latin1'): string {
  const octal = (character: string): string =>
    [...Buffer.from(character, encoding)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
  const format = text
    .replaceAll('\\', '\\\\')
    .replaceAll('%', '%%')
    .replaceAll(UNPRINTABLE[encoding], octal)
    // printf would take a format that begins with a hyphen for an option.
    .replace(/^-/, octal)
  return `printf ${shellWord(format)}`
}

/** The parts of a request that the code contains. */
interface CalledMethod {
  readonly operation: OperationName
  /** The base URL of the service. */
  readonly baseUrl: string
  /** The path below the base URL. */
  readonly path: string
  readonly given: Readonly<Record<string, unknown>>
}

/** Returns a request as code that makes the same call. The code reads the token from the environment. The default is `dev`. */
export function toTypeScript({ operation, baseUrl, path, given }: CalledMethod): string {
  const { path: known, response } = endpoints[operation]
  const options = {
    baseUrl: literal(baseUrl),
    accessToken: "process.env.CAMPAIGN_ACCESS_TOKEN ?? 'dev'",
    ...(known === undefined && { webhookRegistrationPath: literal(path) }),
  }
  const fields = argumentsOf(operation).filter(({ name }) => Object.hasOwn(given, name))
  const request = Object.fromEntries(fields.map(({ name }) => [name, literal(given[name])]))
  const call = `await client.${operation}(${objectOf(request)})`
  return [
    "import { CampaignClient } from 'campaign-client'",
    '',
    `const client = new CampaignClient(${objectOf(options)})`,
    response === undefined ? call : `console.log(${call})`,
  ].join('\n')
}

const objectOf = (fields: Readonly<Record<string, string>>): string =>
  `{\n${Object.entries(fields)
    .map(([name, code]) => `  ${name}: ${code},\n`)
    .join('')}}`

/** A JSON value as a literal, in single quotes where no character needs an escape. Unsafe characters are escaped. */
function literal(value: unknown): string {
  return typeof value === 'string' && /^[ -&(-[\]-~]*$/.test(value) ? `'${value}'` : toJsonLine(value)
}
