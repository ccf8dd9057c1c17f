import { type AnyEndpoint, endpoints, type OperationName } from '../src/endpoints/index.ts'
import { type Member, Project, plainWithLinks, sectionOf } from './comments.ts'

const IMPORTED = new Set(['string', 'number', 'boolean', 'unknown', 'void'])

/** One page per method: what it takes, what every field of its result means, its errors, its retry rule. */
export function methodPages(): Map<OperationName, string> {
  const project = Project.current
  const methods = project.members('CampaignClient')
  return new Map(
    (Object.keys(endpoints) as OperationName[]).map((name) => {
      const method = methods.get(name)
      if (!method) throw new Error(`CampaignClient has no method ${name}`)
      return [name, methodPage(name, method, project)]
    }),
  )
}

function methodPage(name: OperationName, method: Member, project: Project): string {
  const endpoint: AnyEndpoint = endpoints[name]
  const signature = /^\(request: (\w+), .*\) => Promise<(.+)>$/.exec(method.type)
  const [, request = '', result = ''] = signature ?? []
  if (request === '') throw new Error(`${name} has a signature of another form: ${method.type}`)
  const tags = (tag: string): string[] => method.tags.filter((found) => found.name === tag).map(({ text }) => text)
  const [description = '', ...rules] = method.description.split('\n\n')
  return `${[
    `# ${name}`,
    plainWithLinks(description),
    ['```text', `client.${name}(request: ${request}, options?: CallOptions): Promise<${result}>`, '```'].join('\n'),
    table(
      ['endpoint', `[${endpointOf(endpoint)}](../the-service.md#${sectionOf(name, method).anchor})`],
      [['a retry is', `[${endpoint.retry}](../retries-and-idempotency.md)`]],
    ),
    // The section of the interface is the endpoint's, which the table links to.
    ...rules.map((rule) => plainWithLinks(rule).replace(/ ?Interface: \[[^\]]+\]\([^)]+\)\.$/, '')),
    `## The request`,
    fieldTable(fields(request, project)),
    'The second argument, `CallOptions`, changes limits, headers and query for this call.',
    '## The result',
    ...resultOf(result, tags('returns'), project),
    '## Errors',
    table(['class', 'when'], tags('throws').map(errorRow)),
    'What to do about each: [Errors and outcomes](../errors-and-outcomes.md).',
    '## Example',
    ...tags('example').map(standingAlone),
  ].join('\n\n')}\n`
}

const endpointOf = ({ method, path }: AnyEndpoint): string =>
  path === undefined ? 'POST, a path that is not shown' : `\`${method} /${path}\``

const CLIENT = `import { CampaignClient } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'

const client = new CampaignClient({
  baseUrl: 'https://service.example/api/v1',
  accessToken: 'any',
  fetch: createCampaignService().fetch, // the service in a box; leave it out to reach the real one
})
`

/** In the comments the client is taken for granted; on a page the example is to be copied. */
const standingAlone = (example: string): string =>
  example.includes('new CampaignClient') ? example : example.replace('```ts\n', `\`\`\`ts\n${CLIENT}`)

function resultOf(type: string, returns: readonly string[], project: Project): string[] {
  const words = returns.map(plainWithLinks)
  if (type === 'void') return ['Nothing: the service answers that it was done.']
  if (words.length > 0 || IMPORTED.has(type)) return words
  return [
    plainWithLinks(project.description(type)),
    fieldTable(fields(type, project)),
    'Fields the interface does not list are kept.',
  ]
}

interface Field {
  readonly path: string
  readonly type: string
  readonly optional: boolean
  readonly meaning: string
}

/** The fields of an interface and of those it holds, by their paths. */
function fields(type: string, project: Project, prefix = ''): Field[] {
  return [...project.members(type)].flatMap(([name, member]) => {
    const path = `${prefix}${name}`
    const field = {
      path,
      type: shown(member.type),
      optional: member.optional,
      meaning: plainWithLinks(member.description),
    }
    const inner = /^([A-Z]\w+)(\[\])?$/.exec(member.type)
    return inner && isInterface(inner[1] as string, project)
      ? [field, ...fields(inner[1] as string, project, `${path}${inner[2] ?? ''}.`)]
      : [field]
  })
}

function isInterface(name: string, project: Project): boolean {
  return name !== 'CompletionStatus' && name !== 'WebhookScope' && project.members(name).size > 0
}

/** Open strings and metadata as a reader would write them. */
const shown = (type: string): string =>
  type
    .replace('CompletionStatus', "'none' | 'completed' | string")
    .replace('WebhookScope', "'user_activity' | string")
    .replace(' | undefined', '')

const fieldTable = (rows: readonly Field[]): string =>
  table(
    ['field', 'type', 'meaning'],
    rows.map(({ path, type, optional, meaning }) => [
      `\`${path}\`${optional ? ', optional' : ''}`,
      `\`${type.replaceAll('|', '\\|')}\``,
      meaning,
    ]),
  )

/** `A | B when …` of a comment, as a row. */
function errorRow(text: string): [string, string] {
  const [, classes = '', words = ''] = /^((?:\w+(?: \| | or one of its subclasses)?)+)\s+([\s\S]+)$/.exec(text) ?? []
  const names = classes.split(' | ').map((name) => name.replace(/^\w+/, '`$&`'))
  return [names.join(', '), plainWithLinks(words)]
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
