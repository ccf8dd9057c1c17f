import { toJSONSchema } from 'zod'
import { registry } from 'zod/v4/core'
import { exampleRequests } from '../../src/endpoints/arguments.ts'
import { type AnyEndpoint, endpoints, type OperationName } from '../../src/endpoints/index.ts'
import * as resources from '../../src/endpoints/schemas.ts'
import { numericString, presentMetadata } from '../../src/schemas/fields.ts'
import { operation as contractOf } from '../../test/contract/operations.ts'
import { type Member, Project, plain, sectionOf, summaryOf } from '../comments.ts'
import { recordSamples, type Samples } from '../samples.ts'
import { MESSAGE_NAMES, messageSchemas, type Schema } from './message-schemas.ts'
import skeleton from './skeleton.json' with { type: 'json' }

/** The path at which the local service registers webhooks. The interface shows no path. */
const ASSUMED_REGISTRATION_PATH = 'webhook'

const tagOf = (path: string): string =>
  path === ASSUMED_REGISTRATION_PATH ? 'webhooks' : /^(campaign\/|code)/.test(path) ? 'campaigns' : 'users'

const RETRIES = {
  safe: 'A retry is safe: it leads to the same final state.',
  guarded: 'A retry is guarded: the service refuses a second request.',
  unsafe: 'A retry is unsafe: the request may be applied twice.',
}

const NUMERIC_STRING = [{ type: 'number' }, { type: 'string', pattern: '^-?\\d{1,15}(\\.\\d{1,15})?$' }]

const ref = (kind: string, name: string): Schema => ({ $ref: `#/components/${kind}/${name}` })

/**
 * Returns the OpenAPI 3.1 document of the service: skeleton.json, filled from the catalogue, the schemas and the comments of
 * the source.
 */
export async function openApiDocument(version: string): Promise<Schema> {
  const project = Project.current
  const schemas = resourceSchemas(project)
  const samples = await recordSamples()
  const document = structuredClone(skeleton) as typeof skeleton & { paths: Record<string, Schema> }
  document.info.description = document.info.description.replace('{version}', version)
  for (const operation of Object.keys(endpoints) as OperationName[]) {
    const endpoint: AnyEndpoint = endpoints[operation]
    const path = endpoint.path ?? ASSUMED_REGISTRATION_PATH
    document.paths[`/${path}`] = {
      ...document.paths[`/${path}`],
      [endpoint.method.toLowerCase()]: describeOperation(operation, path, project, schemas, samples),
    }
  }
  Object.assign(document.webhooks.user_activity.post.requestBody.content['application/json'], {
    schema: { anyOf: Object.values(MESSAGE_NAMES).map((name) => ref('schemas', name)) },
    examples: Object.fromEntries(Object.entries(samples.messages).map(([name, value]) => [name, { value }])),
  })
  const named = [...schemas, ...messageSchemas(project), ...Object.entries(skeleton.components.schemas)]
    // A read has parameters instead of a request schema.
    .filter(([name]) => !/^Get\w+Request$/.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(named) } }
}

/** Returns the schemas of resources and requests by type name, with descriptions from the comments. */
function resourceSchemas(project: Project): Map<string, Schema> {
  const known = registry<{ id: string }>()
  // message-schemas.ts creates the schemas of messages, one for each kind.
  const { userActivity: _, ...described } = resources
  for (const schema of Object.values(described)) known.add(schema, { id: typeNames.get(schema) as string })
  const { schemas } = toJSONSchema(known, {
    target: 'draft-2020-12',
    io: 'input',
    unrepresentable: 'any',
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === presentMetadata) {
        Object.assign(jsonSchema, { type: ['object', 'null'], additionalProperties: {} })
      }
      // The client also accepts exponents. The documentation of the service does not show any.
      if (zodSchema === numericString) Object.assign(jsonSchema, { anyOf: NUMERIC_STRING })
    },
  })
  return new Map(
    Object.entries(schemas).map(([name, { $schema, $id, ...schema }]) => [
      name,
      withDescriptions(name, schema, project),
    ]),
  )
}

function withDescriptions(name: string, schema: Schema, project: Project): Schema {
  const members = project.members(name)
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>).map(([field, property]) => {
    const { description = '', known = [] } = members.get(field) ?? {}
    if (description === '') throw new Error(`${name}.${field} has no comment`)
    const shape = known.length > 0 ? { anyOf: [{ type: 'string', enum: known }, property] } : property
    return [field, describe(shape, description)] as const
  })
  return describe(
    { ...schema, ...(properties.length > 0 && { properties: Object.fromEntries(properties) }) },
    project.description(name),
  )
}

const describe = (schema: Schema, comment: string): Schema => ({ ...schema, description: plain(comment) })

function describeOperation(
  operation: OperationName,
  path: string,
  project: Project,
  schemas: ReadonlyMap<string, Schema>,
  samples: Samples,
): Schema {
  const endpoint: AnyEndpoint = endpoints[operation]
  const method = project.members('CampaignClient').get(operation) as Member
  const [paragraph = ''] = method.description.split('\n\n')
  const request = requestName(operation)
  const isRead = endpoint.method === 'GET'
  const assumed = [
    ...(endpoint.path === undefined ? ['The path is not shown.'] : []),
    ...(contractOf(operation).errors === 'not shown' ? ['The error responses are not shown.'] : []),
  ]
  return {
    operationId: operation,
    tags: [tagOf(path)],
    summary: summaryOf(method),
    description: `${plain(paragraph)}\n\n${RETRIES[endpoint.retry]}`,
    'x-interface': sectionOf(operation, method).title,
    'x-retry': endpoint.retry,
    ...(assumed.length > 0 && { 'x-assumed': assumed.join(' ') }),
    ...(isRead
      ? { parameters: queryParameters(operation, schemas.get(request) as Schema) }
      : {
          requestBody: {
            required: true,
            content: {
              'application/json': { schema: ref('schemas', request), example: exampleRequests[operation] },
            },
          },
        }),
    responses: {
      200: {
        description: 'Success.',
        content: {
          'application/json': { schema: envelope(operation), example: samples.responses.get(operation) },
        },
      },
      ...errorResponses(operation),
    },
  }
}

/** Returns the name of an operation's request type. */
export const requestName = (operation: OperationName): string => typeNames.get(endpoints[operation].request) as string

function queryParameters(operation: OperationName, request: Schema): Schema[] {
  const endpoint: AnyEndpoint = endpoints[operation]
  const assumed: readonly string[] = 'assumedQueryNames' in endpoint ? (endpoint.assumedQueryNames ?? []) : []
  const sample = exampleRequests[operation] as unknown as Record<string, unknown>
  return Object.entries(request.properties as Record<string, Schema>).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: true,
    description,
    ...(assumed.includes(name) && { 'x-assumed': 'The name of this parameter is not shown.' }),
    schema,
    example: sample[name],
  }))
}

function envelope(operation: OperationName): Schema {
  const { response }: AnyEndpoint = endpoints[operation]
  const data =
    response === undefined
      ? undefined
      : response === 'any'
        ? { description: 'Its shape is not shown.', 'x-assumed': 'Any value.' }
        : ref('schemas', typeNames.get(response) as string)
  return {
    type: 'object',
    properties: {
      success: { type: 'boolean', const: true, description: 'Always true. Use the HTTP status instead.' },
      ...(data && { data }),
    },
    required: ['success', ...(data && response !== 'any' ? ['data'] : [])],
  }
}

const typeNames = new Map<unknown, string>(
  Object.entries(resources).map(([name, schema]) => [schema, name.charAt(0).toUpperCase() + name.slice(1)]),
)

const ERRORS = { 400: 'BadRequest', 401: 'Unauthorized', 403: 'AccessDenied', 500: 'InternalError' }

function errorResponses(operation: OperationName): Schema {
  const { errors } = contractOf(operation)
  const hasStrings = errors !== 'not shown' && errors.strings !== undefined
  return Object.fromEntries(
    Object.entries(ERRORS).map(([status, name]) => [
      status,
      ref('responses', hasStrings && name === 'BadRequest' ? 'ReferralRejected' : name),
    ]),
  )
}
