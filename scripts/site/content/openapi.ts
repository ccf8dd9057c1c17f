import type { Converter, DocumentReflection } from 'typedoc'
import { read } from '../../repository.ts'
import { addPage } from './add-page.ts'
import type { Document, Media, Operation, Parameter, Response, Schema } from './openapi-document.ts'
import { typeOf } from './openapi-types.ts'

const FILE = 'docs/openapi.json'
/** No file: the second page of the same. */
const SCHEMAS = 'docs/openapi.schemas.json'

/** The OpenAPI document as two pages: operations by tag with the webhook messages, and the schemas. */
export function addOpenapi(parent: DocumentReflection, converter: Converter): void {
  const document = JSON.parse(read(FILE)) as Document
  addPage(converter, parent, { title: 'OpenAPI', file: FILE, markdown: operationsText(document) })
  addPage(converter, parent, { title: 'OpenAPI schemas', file: SCHEMAS, markdown: schemasText(document) })
}

function schemasText({ components }: Document): string {
  return [
    '# OpenAPI schemas',
    'What the [operations](openapi.json) take and answer.',
    ...Object.entries(components.schemas).map(([name, schema]) => `## ${name}\n\n${schemaText(schema)}`),
  ].join('\n\n')
}

function operationsText({ info, tags, paths, webhooks, components, openapi }: Document): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )
  const withTag = (tag: string) => operations.filter(({ operation }) => operation.tags.includes(tag))
  return [
    '# OpenAPI',
    `${info.summary}. ${info.description}`,
    `For generators and tools of other languages, the document is \`docs/openapi.json\` of the package, OpenAPI ${openapi}.`,
    ...tags.flatMap(({ name, description }) => [
      `## ${capital(name)}`,
      `${description}.`,
      ...withTag(name).map(({ method, path, operation }) => operationText(method, path, operation, components)),
    ]),
    '## Webhook messages',
    ...Object.entries(webhooks).map(([name, { post }]) => operationText('post', name, post, components)),
  ].join('\n\n')
}

function operationText(
  method: string,
  path: string,
  operation: Operation,
  { responses }: Document['components'],
): string {
  const answers = Object.entries(operation.responses ?? {}).map(([status, answer]): [string, Response] => [
    status,
    '$ref' in answer ? (responses[nameIn(answer.$ref)] ?? { description: '' }) : answer,
  ])
  const answer = answers.find(([status]) => status.startsWith('2'))?.[1].content?.['application/json']
  return [
    `### ${operation.operationId}`,
    `<p class="endpoint"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></p>`,
    operation.description,
    ...section('Parameters', parameterTable(operation.parameters ?? [])),
    ...bodyText('Request body', operation.requestBody?.content['application/json']),
    ...section(
      'Answers',
      table(
        ['status', 'meaning', 'body'],
        answers.map(([status, { description, content }]) => [
          status,
          description,
          typeOf(content?.['application/json']?.schema) || 'none',
        ]),
      ),
    ),
    ...section('Example of an answer', exampleText(answer)),
  ].join('\n\n')
}

const section = (title: string, text: string): string[] => (text === '' ? [] : [`#### ${title}`, text])

function parameterTable(parameters: readonly Parameter[]): string {
  return table(
    ['name', 'in', 'type', 'meaning'],
    parameters.map(({ name, in: place, required, schema, description }) => [
      `\`${name}\`${required ? '' : ' (optional)'}`,
      place,
      typeOf(schema),
      description,
    ]),
  )
}

function bodyText(title: string, media: Media | undefined): string[] {
  if (media === undefined) return []
  return [`#### ${title}`, typeOf(media.schema), ...section('Example', exampleText(media))]
}

/** Each example as JSON; named ones under their name. */
function exampleText(media: Media | undefined): string {
  const examples = media?.examples
    ? Object.entries(media.examples).map(([name, { value }]) => ({ name, value }))
    : media?.example === undefined
      ? []
      : [{ name: '', value: media.example }]
  return examples
    .map(({ name, value }) => {
      const code = `\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\``
      return name === '' ? code : `\`${name}\`:\n\n${code}`
    })
    .join('\n\n')
}

function schemaText(schema: Schema): string {
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [
    `\`${name}\`${schema.required?.includes(name) ? '' : ' (optional)'}`,
    typeOf(field),
    field.description ?? '',
  ])
  const words = schema.description ?? ''
  return [words, fields.length > 0 ? table(['field', 'type', 'meaning'], fields) : typeOf(schema)].join('\n\n')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll(/\s*\n\s*/g, ' ').replaceAll(/(?<!\\)\|/g, '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

const nameIn = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)
const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
