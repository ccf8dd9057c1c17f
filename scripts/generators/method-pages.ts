import { type AnyEndpoint, endpoints, type OperationName } from '../../src/endpoints/index.ts'
import { operation as contractOf } from '../../test/contract/operations.ts'
import { type Member, Project, plainWithLinks, sectionOf } from '../comments.ts'
import { formatJson } from '../format-json.ts'
import { recordSamples } from '../samples.ts'
import type { Generator } from './generator.ts'

const WIDTH = 76

/** Writes a page of the docs for each method of the client. */
export const pagesOfMethods: Generator = {
  name: 'method-pages',
  generate: async () => new Map([...(await methodPages())].map(([name, page]) => [`docs/methods/${name}.md`, page])),
}

/** Writes each page from the catalogue, the TSDoc of the client and an answer of the local service. */
export async function methodPages(): Promise<Map<OperationName, string>> {
  const methods = Project.current.members('CampaignClient')
  const { answers } = await recordSamples()
  return new Map(
    (Object.keys(endpoints) as OperationName[]).map((name) => {
      const method = methods.get(name)
      if (method === undefined) throw new Error(`CampaignClient has no method ${name}`)
      return [name, methodPage(name, method, answers.get(name))]
    }),
  )
}

function methodPage(name: OperationName, method: Member, answer: unknown): string {
  const endpoint: AnyEndpoint = endpoints[name]
  const [, request = '', result = ''] = /^\(request: (\w+), .*\) => Promise<(.+)>$/.exec(method.type) ?? []
  if (request === '') throw new Error(`${name}: unexpected signature ${method.type}`)
  const { title, anchor } = sectionOf(name, method)
  const [description = '', ...others] = method.description.split('\n\n')
  const sentences = plainWithLinks(others.join(' '))
    .replace(/ ?Interface: \[[^\]]+\]\([^)]+\)\.$/, '')
    .split(/(?<=[.:])\s(?=[A-Z`])/)
  const aboutRetries = (sentence: string): boolean => /\bretr(?:y|ies|ied)\b/i.test(sentence)
  return `${[
    `# ${name}`,
    plainWithLinks(description),
    `Endpoint: [${endpoint.path === undefined ? title : `${endpoint.method} /${endpoint.path}`}](../the-service.md#${anchor}).`,
    sentences.filter((sentence) => !aboutRetries(sentence)).join(' '),
    '## Request',
    table(
      ['field', 'meaning', 'required', 'type'],
      fields(request).map(({ path, type, optional, meaning }) => [path, meaning, optional ? 'no' : 'yes', type]),
    ),
    'The second argument has [options for the call](../getting-started.md#options-of-one-call).',
    '## Example',
    fenced('ts', exampleOf(name, result)),
    'The service answers:',
    fenced('json', formatJson(answer, WIDTH)),
    ...answerOf(result, method),
    '## curl',
    fenced('bash', curlOf(name, endpoint)),
    '## Errors',
    table(['error', 'when', ...(endpoint.method === 'POST' ? ['`outcome`'] : [])], errorsOf(name, endpoint)),
    'See [Errors and outcomes](../errors-and-outcomes.md).',
    '## Retries',
    `${RETRIES[endpoint.retry]} See [Retry rules](../retries-and-idempotency.md#retry-rules).`,
  ]
    .filter((part) => part !== '')
    .join('\n\n')}\n`
}

const RETRIES = {
  safe: 'A retry is **safe**: a second request gives the same result. The client retries after lost connections, timeouts, 408, 429, 500, 502, 503 and 504.',
  guarded:
    "A retry is **guarded**: the service refuses a second request. The client retries after lost connections, timeouts, 408, 429, 500, 502, 503 and 504. If a retry is then refused, the error has `outcome: 'unknown'`: an earlier attempt may have succeeded.",
  unsafe:
    'A retry is **unsafe**: a second request may be applied again. The client retries only after a 429, or when the transport knows that the request was not sent.',
}

function errorsOf(name: OperationName, { method, path }: AnyEndpoint): string[][] {
  const contract = contractOf(name)
  const assumed = (status: number): string =>
    contract.errors !== 'not shown' && contract.errors.statuses.includes(status) ? '' : ' (assumed)'
  const strings = contract.errors === 'not shown' ? [] : (contract.errors.strings ?? [])
  const [not, unknown] = ['`not_applied`', '`unknown`']
  const either = `${not} or ${unknown}`
  const row = (error: string, code: string, when: string, outcome: string): string[] => [
    `[\`${error}\`](../error-codes.md#${code})`,
    when,
    ...(method === 'POST' ? [outcome] : []),
  ]
  const rows = [
    row('InvalidRequestError', 'invalid_request', 'an argument is wrong; nothing is sent', not),
    path === undefined &&
      row('ConfigurationError', 'configuration', '`webhookRegistrationPath` is not set; nothing is sent', not),
    row('AccessTokenError', 'access_token', 'the token function failed', not),
    row('BadRequestError', 'bad_request', `400${assumed(400)}`, not),
    row('UnauthorizedError', 'unauthorized', `401${assumed(401)}`, not),
    row('AccessDeniedError', 'access_denied', `403${assumed(403)}`, not),
    strings.length > 0 &&
      row('ReferralRejectedError', 'referral_rejected', strings.map((text) => `\`${text}\``).join(', '), not),
    row('RateLimitError', 'rate_limited', '429 (assumed)', not),
    row('ServiceError', 'service_error', assumed(500) ? '5xx (assumed)' : '500, other 5xx (assumed)', unknown),
    row('ApiError', 'api_error', 'any other status or error (assumed)', either),
    row('NetworkError', 'network', 'the connection was refused or lost', unknown),
    row('TimeoutError', 'timeout', '`timeoutMs` or `totalTimeoutMs` was exceeded', either),
    row(
      'UnexpectedResponseError',
      'unexpected_response',
      'the answer does not have the documented shape, or is a redirect',
      unknown,
    ),
  ]
  return rows.filter((row) => row !== false)
}

/** Formats an object literal with one field per line. */
const literal = (value: object): string =>
  `{\n${Object.entries(value)
    .map(([key, field]) => `  ${key}: ${typeof field === 'string' ? `'${field}'` : JSON.stringify(field)},\n`)
    .join('')}}`

function exampleOf(name: OperationName, result: string): string {
  const call = `await client.${name}(${literal(contractOf(name).request)})`
  const path =
    endpoints[name].path === undefined
      ? "  webhookRegistrationPath: 'webhook', // ask the operator of your campaign\n"
      : ''
  const service =
    path === '' ? 'createCampaignService()' : "createCampaignService({\n  webhookRegistrationPath: 'webhook',\n})"
  return `import { CampaignClient } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'

const service = ${service}
const client = new CampaignClient({
  baseUrl: 'https://service.example/api/v1',
  accessToken: 'any',
${path}  fetch: service.fetch, // remove this line to call the real service
})
${result === 'void' ? call : `const data = ${call}\nconsole.log(data)`}`
}

function curlOf(name: OperationName, { method, path = 'webhook' }: AnyEndpoint): string {
  const { request } = contractOf(name)
  const head = ['curl', ...(method === 'GET' ? ['-G'] : []), `"$CAMPAIGN_BASE_URL/${path}"`].join(' ')
  const data =
    method === 'GET'
      ? Object.entries(request).map(([key, value]) => `-d ${key}=${value}`)
      : ["-H 'content-type: application/json'", `-d '${formatJson(request, WIDTH - 4)}'`]
  return [head, '-H "authorization: Bearer $CAMPAIGN_ACCESS_TOKEN"', ...data].join(' \\\n  ')
}

function answerOf(type: string, { tags }: Member): string[] {
  if (type === 'void') return ['The method resolves to `undefined`.']
  const returns = tags
    .filter(({ name }) => name === 'returns')
    .map(({ text }) => plainWithLinks(text).replace(/^Resolves/, 'The method resolves'))
  if (returns.length > 0 || !isInterface(type)) return returns
  const rows = fields(type).map(({ path, type: shown, optional, meaning }) => [
    path,
    `${optional ? 'Optional. ' : ''}${meaning}`,
    shown,
  ])
  return ['The method resolves to `data`:', table(['field', 'meaning', 'type'], rows), 'Unknown fields are kept.']
}

interface Field {
  readonly path: string
  readonly type: string
  readonly optional: boolean
  readonly meaning: string
}

/** Returns the fields of an interface and of its nested interfaces. */
function fields(type: string, prefix = ''): Field[] {
  return [...Project.current.members(type)].flatMap(([name, member]) => {
    const path = `${prefix}${name}`
    const field = {
      path: `\`${path}\``,
      type: `\`${shownType(member.type).replaceAll('|', '\\|')}\``,
      optional: member.optional,
      meaning: plainWithLinks(member.description),
    }
    const [, inner = '', list = ''] = /^([A-Z]\w+)(\[\])?$/.exec(member.type) ?? []
    return inner !== '' && isInterface(inner) ? [field, ...fields(inner, `${path}${list}.`)] : [field]
  })
}

const OPEN_STRINGS: Readonly<Record<string, string>> = {
  CompletionStatus: "'none' | 'completed' | string",
  WebhookScope: "'user_activity' | string",
}

const isInterface = (name: string): boolean =>
  /^[A-Z]\w+$/.test(name) && !(name in OPEN_STRINGS) && Project.current.members(name).size > 0

const shownType = (type: string): string =>
  type.replace(/\w+/, (name) => OPEN_STRINGS[name] ?? name).replace(' | undefined', '')

const fenced = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
