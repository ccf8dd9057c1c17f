import { exampleRequests } from '../../src/endpoints/arguments.ts'
import { type AnyEndpoint, endpoints, type OperationName } from '../../src/endpoints/index.ts'
import { operation as contractOf } from '../../test/contract/operations.ts'
import { type Member, Project, plain, sectionOf, withoutAssumption } from '../comments.ts'
import { formatJson } from '../format-json.ts'
import { recordSamples } from '../samples.ts'
import type { Generator } from './generator.ts'

const WIDTH = 76

/** Writes a page of the docs for each method of the client. */
export const pagesOfMethods: Generator = {
  name: 'method-pages',
  generate: async () => new Map([...(await methodPages())].map(([name, page]) => [`docs/methods/${name}.md`, page])),
}

/** Writes each page from the catalogue, the TSDoc of the client and a response of the local service. */
export async function methodPages(): Promise<Map<OperationName, string>> {
  const methods = Project.current.members('CampaignClient')
  const { responses } = await recordSamples()
  return new Map(
    (Object.keys(endpoints) as OperationName[]).map((name) => {
      const method = methods.get(name)
      if (method === undefined) throw new Error(`CampaignClient has no method ${name}`)
      return [name, methodPage(name, method, responses.get(name))]
    }),
  )
}

function methodPage(name: OperationName, method: Member, response: unknown): string {
  const endpoint: AnyEndpoint = endpoints[name]
  const [, request = '', result = ''] = /^\(request: (\w+), .*\) => Promise<(.+)>$/.exec(method.type) ?? []
  if (request === '') throw new Error(`${name}: unexpected signature ${method.type}`)
  const { title, anchor } = sectionOf(name, method)
  const [description = '', ...others] = method.description.split('\n\n')
  const sentences = plain(others.join(' '))
    .replace(/ ?See "[^"]+" in docs\/the-service\.md\.$/, '')
    .split(/(?<=[.:])\s(?=[A-Z`])/)
  const aboutRetries = (sentence: string): boolean => /\bretr(?:y|ies|ied)\b/i.test(sentence)
  return `${[
    `# ${name}`,
    plain(description),
    `Endpoint: [${endpoint.path === undefined ? title : `${endpoint.method} /${endpoint.path}`}](../the-service.md#${anchor}). Retry rule: [${endpoint.retry}](../retries-and-idempotency.md#retry-rules). [Errors](../errors-and-outcomes.md).`,
    [...sentences.filter((sentence) => !aboutRetries(sentence)), ...refusalsOf(name)].join(' '),
    '## Request',
    table(
      ['field', 'meaning', 'type'],
      fields(request).map((field) => [field.path, withoutAssumption(field.meaning), field.type]),
    ),
    '## Example',
    'With the [local service](../getting-started.md#base-url-and-access-token):',
    fenced('ts', exampleOf(name, result)),
    endpoint.path === undefined ? "The body of the local service's response:" : 'The body of the response:',
    fenced('json', formatJson(response, WIDTH)),
    ...resultTable(result, method),
    '## curl',
    fenced('bash', curlOf(name, endpoint)),
  ]
    .filter((part) => part !== '')
    .join('\n\n')}\n`
}

/** The reasons of refusals that only this method has. */
function refusalsOf(name: OperationName): string[] {
  const { errors } = contractOf(name)
  const reasons = errors === 'not shown' ? undefined : errors.strings
  if (reasons === undefined) return []
  const list = reasons.map((reason) => `\`${reason}\``).join(' or ')
  return [`A refusal with the reason ${list} throws [\`ReferralRejectedError\`](../error-codes.md#referral_rejected).`]
}

/** Formats an object literal with one field per line. */
const literal = (value: object): string =>
  `{\n${Object.entries(value)
    .map(([key, field]) => `  ${key}: ${typeof field === 'string' ? `'${field}'` : JSON.stringify(field)},\n`)
    .join('')}}`

/** An ID that no second wallet can use would mislead: derive it. */
const AWARD = `const wallet = {
  address: '0x52908400098527886E0F7030069857D2E4169EE7',
  pid: 'demo',
}
await client.rewardWallet({
  ...wallet,
  id: rewardId({ ...wallet, reason: 'launch party' }),
  xp: 250,
})`

function exampleOf(name: OperationName, result: string): string {
  const isAward = name === 'rewardWallet'
  const call = isAward ? AWARD : `await client.${name}(${literal(exampleRequests[name])})`
  const path =
    endpoints[name].path === undefined
      ? "  webhookRegistrationPath: 'webhook', // ask the operator of your campaign\n"
      : ''
  const service =
    path === '' ? 'createCampaignService()' : "createCampaignService({\n  webhookRegistrationPath: 'webhook',\n})"
  return `import { CampaignClient } from 'campaign-client'
${isAward ? "import { rewardId } from 'campaign-client/bulk'\n" : ''}import { createCampaignService } from 'campaign-client/testing'

const service = ${service}
const client = new CampaignClient({
  baseUrl: 'https://service.example/api/v1',
  accessToken: 'any',
${path}  fetch: service.fetch,
})
${result === 'void' ? call : `const data = ${call}\nconsole.log(data)`}`
}

function curlOf(name: OperationName, { method, path = 'webhook' }: AnyEndpoint): string {
  const request = exampleRequests[name]
  const head = ['curl', ...(method === 'GET' ? ['-G'] : []), `"$CAMPAIGN_BASE_URL/${path}"`].join(' ')
  const data =
    method === 'GET'
      ? Object.entries(request).map(([key, value]) => `-d ${key}=${value}`)
      : ["-H 'content-type: application/json'", `-d '${formatJson(request, WIDTH - 4)}'`]
  return [head, '-H "authorization: Bearer $CAMPAIGN_ACCESS_TOKEN"', ...data].join(' \\\n  ')
}

function resultTable(type: string, { tags }: Member): string[] {
  if (type === 'void') return ['The method resolves to `undefined`.']
  const returns = tags
    .filter(({ name }) => name === 'returns')
    .map(({ text }) => plain(text).replace(/^Resolves/, 'The method resolves'))
  if (returns.length > 0 || !isInterface(type)) return returns
  const rows = fields(type).map(({ path, meaning, type: shown }) => [path, meaning, shown])
  return ['The method resolves to `data`:', table(['field', 'meaning', 'type'], rows)]
}

interface Field {
  readonly path: string
  readonly type: string
  readonly meaning: string
}

/** Returns the fields of an interface and of its nested interfaces. Later lists only name the fields of the first list. */
function fields(type: string): Field[] {
  let first: { name: string; keys: Set<string> } | undefined
  return [...Project.current.members(type)].flatMap(([name, member]) => {
    const field = fieldOf(name, member)
    const [, inner = '', list = ''] = /^([A-Z]\w+)(\[\])?$/.exec(member.type) ?? []
    if (inner === '' || !isInterface(inner)) return [field]
    const nested = [...Project.current.members(inner)].map(([innerName, innerMember]) => {
      const item = fieldOf(`${name}${list}.${innerName}`, innerMember)
      const key = [innerName, item.type, item.meaning.replace(/\b(?:task|quest|challenge)\b/, '')].join()
      return { name: `\`${innerName}\``, item, key }
    })
    first ??= { name, keys: new Set(nested.map(({ key }) => key)) }
    const { keys } = first
    if (first.name === name || !nested.some(({ key }) => keys.has(key)))
      return [field, ...nested.map(({ item }) => item)]
    const same = nested.filter(({ key }) => keys.has(key)).map((entry) => entry.name)
    const meaning = `${field.meaning} ${same.slice(0, -1).join(', ')} and ${same.at(-1)} as in \`${first.name}\`.`
    return [{ ...field, meaning }, ...nested.filter(({ key }) => !keys.has(key)).map(({ item }) => item)]
  })
}

const fieldOf = (path: string, { type, optional, description }: Member): Field => ({
  path: `\`${path}\``,
  type: `\`${shownType(type).replaceAll('|', '\\|')}\``,
  meaning: `${optional ? 'Optional. ' : ''}${plain(description)}`,
})

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
  [
    `| ${head.join(' | ')} |`,
    `|${head.map(() => '---').join('|')}|`,
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n')
