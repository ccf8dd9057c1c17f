import { toJSONSchema } from 'zod'
import { registry } from 'zod/v4/core'
import { type AnyEndpoint, endpoints, type OperationName } from '../../src/endpoints/index.ts'
import * as resources from '../../src/endpoints/schemas.ts'
import { numericString, presentMetadata } from '../../src/schemas/fields.ts'
import { operation as contractOf } from '../../test/contract/operations.ts'
import { type Member, Project, plain, sectionOf, summaryOf } from '../comments.ts'
import { recordSamples, type Samples } from '../samples.ts'
import { type Schema, TypeSchemas } from './message-schemas.ts'

/** Where the local service registers webhooks. The interface shows no path. */
const ASSUMED_REGISTRATION_PATH = 'webhook'

const TAGS = {
  users: 'Users, their progress and their referrers',
  campaigns: 'Campaigns and their invite codes',
  webhooks: 'The registration of webhooks',
}
const tagOf = (path: string): keyof typeof TAGS =>
  path === ASSUMED_REGISTRATION_PATH ? 'webhooks' : /^(campaign\/|code)/.test(path) ? 'campaigns' : 'users'

const RETRIES = {
  safe: 'A retry is safe: it leads to the same final state.',
  guarded: 'A retry is guarded: the service itself refuses to do it twice.',
  unsafe: 'A retry is unsafe: it would count twice.',
}

const NUMERIC_STRING = [{ type: 'number' }, { type: 'string', pattern: '^-?\\d{1,15}(\\.\\d{1,15})?$' }]

const ref = (kind: string, name: string): Schema => ({ $ref: `#/components/${kind}/${name}` })

/** The OpenAPI 3.1 document of the service, from the catalogue, the schemas and the comments of the source. */
export async function openApiDocument(version: string): Promise<Schema> {
  const project = Project.current
  const schemas = resourceSchemas(project)
  const samples = await recordSamples()
  const paths: Record<string, Schema> = {}
  for (const operation of Object.keys(endpoints) as OperationName[]) {
    const endpoint: AnyEndpoint = endpoints[operation]
    const path = endpoint.path ?? ASSUMED_REGISTRATION_PATH
    paths[`/${path}`] = {
      ...paths[`/${path}`],
      [endpoint.method.toLowerCase()]: describeOperation(operation, path, project, schemas, samples),
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Campaign engagement service',
      version: '1.0.0',
      summary: 'Progress, rewards and referrals of users in campaigns',
      description:
        `As campaign-client ${version} understands it. Parts that the description of the service leaves open are ` +
        'marked `x-assumed`; `x-interface`, or “Interface” in a description, names the section of the page “The service” ' +
        'that a part rests on.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      {
        url: '{base_url}',
        description: 'Production and development share one address.',
        variables: {
          base_url: { default: 'https://service.example/api/v1', description: 'Ends with the version segment.' },
        },
      },
    ],
    security: [{ accessToken: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: describeWebhooks(samples),
    components: {
      securitySchemes: {
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'How a token is obtained, and how long it lives, is not shown. Interface: Authentication.',
        },
      },
      schemas: Object.fromEntries(
        [...schemas, ...messageSchemas(project), ...errorSchemas()]
          // Those of reads are the parameters of their operations.
          .filter(([name]) => !/^Get\w+Request$/.test(name))
          .sort(([one], [other]) => (one < other ? -1 : 1)),
      ),
      responses: errorResponses(),
    },
  }
}

/** The schemas of resources and requests, by the names of their types, with the words of their comments. */
function resourceSchemas(project: Project): Map<string, Schema> {
  const known = registry<{ id: string }>()
  const typeName = (schema: string): string => schema.charAt(0).toUpperCase() + schema.slice(1)
  // Messages are described from their types, which tell the kinds apart; see message-schemas.ts.
  const { userActivity: _, ...described } = resources
  for (const [name, schema] of Object.entries(described)) known.add(schema, { id: typeName(name) })
  const { schemas } = toJSONSchema(known, {
    target: 'draft-2020-12',
    io: 'input',
    unrepresentable: 'any',
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === presentMetadata) {
        Object.assign(jsonSchema, { type: ['object', 'null'], additionalProperties: {} })
      }
      // What the service is known to send; that we read exponents as well is our own leniency.
      if (zodSchema === numericString) Object.assign(jsonSchema, { anyOf: NUMERIC_STRING })
    },
  })
  return new Map(
    Object.entries(schemas).map(([name, { $schema, $id, ...schema }]) => [name, worded(name, schema, project)]),
  )
}

function worded(name: string, schema: Schema, project: Project): Schema {
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

const describe = (schema: Schema, words: string): Schema => ({ ...schema, description: plain(words) })

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
    ...(contractOf(operation).errors === 'not shown' ? ['The error answers are not shown.'] : []),
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
              'application/json': { schema: ref('schemas', request), example: contractOf(operation).request },
            },
          },
        }),
    responses: {
      200: {
        description: 'It was done.',
        content: {
          'application/json': { schema: envelope(operation), example: samples.answers.get(operation) },
        },
      },
      ...errorAnswers(operation),
    },
  }
}

/** The name of the type of what an operation takes. */
export const requestName = (operation: OperationName): string => typeNames.get(endpoints[operation].request) as string

function queryParameters(operation: OperationName, request: Schema): Schema[] {
  const endpoint: AnyEndpoint = endpoints[operation]
  const assumed: readonly string[] = 'assumedQueryNames' in endpoint ? (endpoint.assumedQueryNames ?? []) : []
  const sample = contractOf(operation).request as unknown as Record<string, unknown>
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
        ? { description: 'Its shape is not shown.', 'x-assumed': 'Anything.' }
        : ref('schemas', typeNames.get(response) as string)
  return {
    type: 'object',
    properties: {
      success: { type: 'boolean', const: true, description: 'Says nothing that the HTTP status does not.' },
      ...(data && { data }),
    },
    required: ['success', ...(data && response !== 'any' ? ['data'] : [])],
  }
}

const typeNames = new Map<unknown, string>(
  Object.entries(resources).map(([name, schema]) => [schema, name.charAt(0).toUpperCase() + name.slice(1)]),
)

const ERRORS = { 400: 'BadRequest', 401: 'Unauthorized', 403: 'AccessDenied', 500: 'InternalError' } as const
const MESSAGES = { 400: 'bad request', 401: 'unauthorized', 403: 'access denied', 500: 'internal error' } as const

function errorAnswers(operation: OperationName): Schema {
  const { errors } = contractOf(operation)
  const hasStrings = errors !== 'not shown' && errors.strings !== undefined
  return Object.fromEntries(
    Object.entries(ERRORS).map(([status, name]) => [
      status,
      ref('responses', hasStrings && name === 'BadRequest' ? 'ReferralRejected' : name),
    ]),
  )
}

function errorResponses(): Schema {
  const responses: Record<string, Schema> = {}
  for (const status of [400, 401, 403, 500] as const) {
    const example = { success: true, error: { code: status, message: MESSAGES[status] } }
    responses[ERRORS[status]] = {
      description: `${MESSAGES[status]}. In the published examples \`success\` is true all the same.`,
      content: { 'application/json': { schema: ref('schemas', 'StandardError'), example } },
    }
  }
  responses.ReferralRejected = {
    description: 'The referral was refused, or the request was bad.',
    'x-assumed': 'The status of the errors in string form is not shown.',
    content: {
      'application/json': {
        schema: { anyOf: [ref('schemas', 'StandardError'), ref('schemas', 'StringError')] },
        examples: {
          self_referral: { value: { success: false, error: 'self_referral_not_allowed' } },
          missing_user: { value: { success: false, error: 'missing_user' } },
          bad_request: { value: { success: true, error: { code: 400, message: MESSAGES[400] } } },
        },
      },
    },
  }
  return responses
}

const errorSchemas = (): [string, Schema][] => [
  [
    'StandardError',
    {
      description: 'The error of every operation. Interface: Standard errors.',
      type: 'object',
      properties: {
        success: { type: 'boolean', description: 'Says nothing: it is true in the published examples.' },
        error: {
          type: 'object',
          properties: {
            code: { type: 'integer', format: 'int32', description: 'Decides together with the HTTP status.' },
            message: { type: 'string', description: 'What went wrong, in words.' },
          },
          required: ['code', 'message'],
        },
      },
      required: ['error'],
    },
  ],
  [
    'StringError',
    {
      description: 'The second form of error of `setReferrer`. Interface: String errors.',
      type: 'object',
      properties: {
        success: { const: false },
        error: {
          enum: ['missing_user', 'self_referral_not_allowed'],
          description: 'A required user does not exist, or referrer and referral are the same.',
        },
      },
      required: ['success', 'error'],
    },
  ],
]

/** The messages, by the type of the event they become. */
const MESSAGE_NAMES = { ActionCompletedEvent: 'ActionCompletedMessage', QuestCompletedEvent: 'QuestCompletedMessage' }

/** The schemas of webhook messages and of the types they are made of, by name. */
function messageSchemas(project: Project): Map<string, Schema> {
  const types = new TypeSchemas(project)
  const messages = Object.entries(MESSAGE_NAMES).map(
    ([event, name]) => [name, describe(types.ofField(event, 'payload'), project.description(event))] as const,
  )
  const parts = [...types.named].map(([name, schema]) => [name, describe(schema, project.description(name))] as const)
  return new Map([...messages, ...parts])
}

function describeWebhooks(samples: Samples): Schema {
  return {
    user_activity: {
      post: {
        operationId: 'userActivity',
        tags: ['webhooks'],
        summary: 'A user acted within a campaign',
        description:
          'Sent to every registered URL. After a failed attempt it is sent again 5 seconds, 30 seconds, 1 minute and ' +
          '5 minutes later, each time after the attempt before. Other scopes and types are not shown.',
        'x-interface': 'Events',
        security: [],
        parameters: [
          {
            name: 'x-service-signature',
            in: 'header',
            required: false,
            description:
              'Lowercase hexadecimal HMAC-SHA256 of the body, keyed with the secret of the webhook. Absent without one.',
            schema: { type: 'string', pattern: '^[0-9a-f]{64}$' },
          },
        ],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: { anyOf: Object.values(MESSAGE_NAMES).map((name) => ref('schemas', name)) },
              examples: Object.fromEntries(Object.entries(samples.messages).map(([name, value]) => [name, { value }])),
            },
          },
        },
        responses: {
          200: { description: 'The message was received.' },
          '4XX': { description: 'Refused.', 'x-assumed': 'Counts as a failed attempt, as everything but a 2xx.' },
          '5XX': { description: 'Not now.', 'x-assumed': 'Counts as a failed attempt, as everything but a 2xx.' },
        },
      },
    },
  }
}
