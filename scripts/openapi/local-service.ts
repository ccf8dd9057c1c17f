import { toJSONSchema } from 'zod'
import { CONTROL_REQUESTS } from '../../src/console/action-requests.ts'
import { serviceSeed } from '../../src/testing/seed/seed.ts'
import { Project } from '../comments.ts'
import type { Schema } from './message-schemas.ts'
import { TypeSchemas } from './type-schemas.ts'

const NOT_FOR_PAGES =
  'Requests of web pages with another origin, and with a `Host` that `dev` does not allow, are refused: call the local ' +
  'service from the test runner.'

/** The records, with the type and the field that describe each. `after` describes the parameter of a list. */
const RECORDS = {
  state: { summary: 'The state of the service as a seed, without secrets', of: undefined, after: undefined },
  faults: {
    summary: 'The faults that are not used up, oldest first',
    of: undefined,
    after: undefined,
  },
  requests: {
    summary: 'The requests that the service received, oldest first',
    of: ['CampaignService', 'requests'],
    after: 'Number of a request: only later ones are returned.',
  },
  deliveries: {
    summary: 'The deliveries of webhook messages with their attempts, oldest first',
    of: ['CampaignService', 'deliveries'],
    after: '`deliveryId` of a delivery: only later ones are returned.',
  },
} as const

/** Returns the OpenAPI 3.1 document of `/control/`, from the schemas of the actions and the types of their results. */
export function localServiceDocument(version: string): Schema {
  const types = new TypeSchemas(Project.current)
  const withResult = new Set(types.fieldsOf('ActionData'))
  const actions = Object.entries(CONTROL_REQUESTS).map(([name, request]) => {
    const { $schema, description, ...schema } = toJSONSchema(request, { io: 'input' })
    const result = withResult.has(name) ? types.of('ActionData', name) : { type: 'object', description: 'Empty.' }
    const post = {
      operationId: name,
      summary: String(description).replace(/\.$/, ''),
      requestBody: { required: true, content: json(name === 'loadSeed' ? withSeed(schema) : schema) },
      responses: {
        200: { description: 'Done.', content: json(result) },
        ...refusals([400, 403, 405, 413, 415]),
      },
    }
    return [`/control/${name}`, { post }] as const
  })
  const records = Object.entries(RECORDS).map(([name, { summary, of, after }]) => {
    const get = {
      operationId: name,
      summary,
      ...(after && { parameters: [{ name: 'after', in: 'query', description: after, schema: { type: 'string' } }] }),
      responses: {
        200: {
          description: 'The records.',
          content: json(of ? types.of(of[0], of[1]) : name === 'faults' ? faultsSchema(types) : SEED),
        },
        ...refusals(after ? [400, 403, 405] : [403, 405]),
      },
    }
    return [`/control/${name}`, { get }] as const
  })
  return {
    openapi: '3.1.0',
    info: {
      title: 'Local service of campaign-client',
      version,
      description: `Controls the local service that \`npx campaign-client dev\` runs. ${NOT_FOR_PAGES}`,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:4600' }],
    security: [],
    paths: Object.fromEntries([...records, ...actions]),
    components: {
      schemas: {
        Error: {
          type: 'object',
          properties: {
            error: { type: 'string', description: 'What was wrong.' },
            field: { type: 'string', description: 'The field with the wrong value, where there is one.' },
          },
          required: ['error'],
        },
        Seed: seedSchema(),
      },
    },
  }
}

/** Returns the JSON Schema of a file for `dev --seed`. */
export function seedDocument(): Schema {
  const seed = seedSchema()
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Seed of the local service',
    ...seed,
    properties: {
      ...(seed.properties as Schema),
      tokens: {
        description: 'The accepted tokens, for `dev --seed` only: the option `tokens` of `createCampaignService`.',
      },
      $schema: {
        type: 'string',
        description: 'The address of this schema, for editors. `dev --seed` and `loadSeed` ignore it.',
      },
    },
  }
}

const SEED = { $ref: '#/components/schemas/Seed' }

const withSeed = (schema: Schema): Schema => ({
  ...schema,
  properties: { ...(schema.properties as Schema), seed: SEED },
})

/** JSON has no Infinity: the options are those of `addFault`, and `remaining` may be null. */
function faultsSchema(types: TypeSchemas): Schema {
  const { $schema, description, ...options } = toJSONSchema(CONTROL_REQUESTS.addFault, { io: 'input' })
  const fault = types.of('FaultRecord')
  const { id, used, remaining } = fault.properties as Readonly<Record<string, Schema>>
  const counts = { used, remaining: { ...remaining, type: ['number', 'null'] } }
  const key = { ...id, description: 'The `key` of `addFault` and `cancelFault`.' }
  const items = { ...fault, properties: { id: key, options, ...counts } }
  return { type: 'object', properties: { faults: { type: 'array', items } }, required: ['faults'] }
}

const STATUSES: Readonly<Record<number, string>> = {
  400: 'The request is wrong or can not be done.',
  403: 'The host or the origin is not allowed.',
  405: 'The method is not allowed.',
  413: 'The body is larger than 64 MB.',
  415: 'The content type is not `application/json`.',
}

const json = (schema: Schema): Schema => ({ 'application/json': { schema } })

const refusals = (statuses: readonly number[]): Schema =>
  Object.fromEntries(
    statuses.map((status) => [
      status,
      { description: STATUSES[status], content: json({ $ref: '#/components/schemas/Error' }) },
    ]),
  )

function seedSchema(): Schema {
  const { $schema, ...schema } = toJSONSchema(serviceSeed, { io: 'input', unrepresentable: 'any' })
  const described = new TypeSchemas(Project.current).of('ServiceSeed')
  return withDescriptions(schema, described)
}

/** Adds the descriptions of a second schema for the same values, and the type where the first schema has none. */
function withDescriptions(schema: Schema, described: Schema): Schema {
  const fields = described.properties as Readonly<Record<string, Schema>> | undefined
  const isOpen = Object.keys(schema).length === 0
  const result: Schema = {
    ...(isOpen && described.type !== undefined && { type: described.type }),
    ...schema,
    ...(described.description !== undefined && { description: described.description }),
  }
  if (schema.properties && fields) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties as Record<string, Schema>).map(([name, field]) => [
        name,
        withDescriptions(field, fields[name] ?? {}),
      ]),
    )
  }
  if (schema.items && described.items) {
    result.items = withDescriptions(schema.items as Schema, described.items as Schema)
  }
  return result
}
