import { readFileSync } from 'node:fs'
import { parseWebhook, signWebhook } from 'campaign-client/webhook'
import { beforeAll, describe, expect, test } from 'vitest'
import { Project } from '../../scripts/comments.ts'
import { openApiDocument } from '../../scripts/openapi/document.ts'
import { pathTo } from '../../scripts/repository.ts'
import { endpoints } from '../../src/endpoints/index.ts'
import { operations } from '../contract/operations.ts'

type Json = { [key: string]: Json } & Iterable<Json>

const packageJson = JSON.parse(readFileSync(pathTo('package.json'), 'utf8'))
let document: Json

beforeAll(async () => {
  document = (await openApiDocument(packageJson.version)) as Json
})

test('the document has all operations of the catalogue', () => {
  const described = Object.values(document.paths as Json).flatMap((path) => Object.values(path))
  expect(described.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(endpoints).sort())
  for (const operation of described) {
    expect(operation.summary).toMatch(/^[A-Z].{10,}[^.]$/)
    expect(operation.security ?? document.security).toEqual([{ accessToken: [] }])
    expect(Object.keys(operation.responses as Json)).toEqual(['200', '400', '401', '403', '500'])
  }
})

test('details that the interface does not show are marked as assumed', () => {
  const marked: string[] = []
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return
    if (Object.hasOwn(value, 'x-assumed')) marked.push(path)
    for (const [key, inner] of Object.entries(value)) walk(inner, `${path}/${key}`)
  }
  walk(document.paths, '')
  const assumed = operations.flatMap(({ path, method, fields, queryNames, errors }) => {
    const at = `/${path === 'not shown' ? '/webhook' : path}/${method.toLowerCase()}`
    return [
      ...(errors === 'not shown' ? [at] : []),
      ...(queryNames === 'assumed' ? Object.keys(fields).map((_, index) => `${at}/parameters/${index}`) : []),
      ...(path === 'not shown' ? [`${at}/responses/200/content/application/json/schema/properties/data`] : []),
    ]
  })
  expect(marked.sort()).toEqual(assumed.sort())
  expect(assumed.length).toBeGreaterThan(10)
})

test('every field of a resource and of a message has a description', () => {
  const bare: string[] = []
  for (const [name, schema] of Object.entries(document.components?.schemas as Json)) {
    expect(schema.description, name).toBeTruthy()
    for (const [field, property] of Object.entries((schema.properties ?? {}) as Json)) {
      if (!property.description && !property.$ref && name !== 'StringError' && name !== 'StandardError')
        bare.push(`${name}.${field}`)
    }
  }
  expect(bare).toEqual([])
})

describe('the example messages', () => {
  test.each(['action_completed', 'quest_completed'])('%s is parsed as its kind', (kind) => {
    const examples = document.webhooks?.user_activity?.post?.requestBody?.content?.['application/json']?.examples
    const body = JSON.stringify(examples?.[kind]?.value)
    expect(parseWebhook('secret', body, signWebhook('secret', body)).kind).toBe(kind)
  })
})

test('an unknown type is named in the error', () => {
  expect(() => Project.current.declaration('NoSuchType')).toThrow('src declares no type NoSuchType')
})
