import { CampaignError, InvalidRequestError, type OperationName, UnexpectedResponseError } from 'campaign-client'
import * as schemas from 'campaign-client/schemas'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { endpoints } from '../../src/endpoints/index.ts'
import { type SentRequest, scriptedFetch } from '../call/scripted-fetch.ts'
import { invoke as call, type FieldKind, operation, operations } from '../contract/operations.ts'
import { FULL_SIZE } from '../support/full-size.ts'
import { addressOf, clientWith } from './stub-service.ts'

/** Runs of each property, for each operation. */
const RUNS = FULL_SIZE ? 100 : 30

const rows = operations.map((operation) => [operation.name, operation] as const)

/** Any status of a response with a body. */
const status = fc.oneof(
  fc.constant(200),
  fc.constantFrom(200, 201, 299, 300, 302, 308, 399, 400, 401, 403, 404, 408, 429, 499, 500, 503, 599),
  fc.integer({ min: 200, max: 599 }).filter((number) => ![204, 205, 304].includes(number)),
)

/** JSON that resembles an envelope. */
const almostEnvelope = fc.record(
  {
    success: fc.oneof(fc.boolean(), fc.jsonValue()),
    data: fc.jsonValue(),
    error: fc.oneof(
      fc.record({ code: fc.oneof(fc.integer(), fc.jsonValue()), message: fc.jsonValue() }, { requiredKeys: [] }),
      fc.constantFrom('missing_user', 'self_referral_not_allowed', ''),
      fc.string(),
      fc.jsonValue(),
    ),
  },
  { requiredKeys: [] },
)

/** Data with one part, at any depth, replaced by another value or removed. */
function withOneChange(value: unknown, [at, ...rest]: readonly number[], change: unknown): unknown {
  if (at === undefined || typeof value !== 'object' || value === null) return change
  const keys = Object.keys(value)
  const key = keys[at % Math.max(1, keys.length)]
  if (key === undefined) return change
  const changed = withOneChange(Reflect.get(value, key), rest, change)
  return Array.isArray(value)
    ? value.map((item, index) => (`${index}` === key ? changed : item))
    : { ...value, [key]: changed }
}

const headers = fc.record(
  { 'retry-after': fc.string({ unit: 'binary-ascii' }), 'x-request-id': fc.string({ unit: 'binary-ascii' }) },
  { requiredKeys: [] },
)

/** Asserts that a call resolves to data or rejects with a `CampaignError`. */
async function settles(
  { name, writes, run }: (typeof operations)[number],
  body: string | Uint8Array<ArrayBuffer>,
  init: ResponseInit,
): Promise<unknown> {
  const { fetch, sent } = scriptedFetch(() => new Response(body, init))
  const result = await run(clientWith({ fetch })).then(
    (data) => ({ data }),
    (error: unknown) => ({ error }),
  )
  expect(sent).toHaveLength(1)
  if ('data' in result) {
    expect(init.status).toBeLessThan(300)
    return result.data
  }
  expect(result.error).toBeInstanceOf(CampaignError)
  const error = result.error as CampaignError
  expect(error.operation).toBe(name)
  expect(writes ? ['not_applied', 'unknown'] : [undefined]).toContain(error.outcome)
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ name: error.name, code: error.code })
  return undefined
}

const printable = (values: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value && /^[\x20-\x7e]*$/.test(value) ? [[name, value]] : [])),
  )

describe.each(rows)('%s returns data or a CampaignError', (_, operation) => {
  it('for any JSON value, text or bytes with any status', async () => {
    const value = fc.oneof(fc.jsonValue(), almostEnvelope).map((body) => JSON.stringify(body))
    const text = fc.oneof(fc.string(), fc.json(), fc.string({ unit: 'binary' }))
    const bytes = fc.uint8Array({ maxLength: 200 }).map((body) => new Uint8Array(body))
    await fc.assert(
      fc.asyncProperty(fc.oneof(value, text, bytes), status, headers, async (body, status, headers) => {
        await settles(operation, body, { status, headers: printable(headers) })
      }),
      { numRuns: 3 * RUNS },
    )
  })

  it('for a truncated response, which is never data', async () => {
    const whole = JSON.stringify({ success: true, data: operation.data })
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), async (length) => {
        const { fetch } = scriptedFetch(() => new Response(whole.slice(0, length)))
        await expect(operation.run(clientWith({ fetch }))).rejects.toBeInstanceOf(UnexpectedResponseError)
      }),
      { numRuns: RUNS },
    )
  })

  it('for data with one changed part, which is returned only if its schema accepts it', async () => {
    const { response } = endpoints[operation.name]
    const part = fc.array(fc.nat(20), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(part, fc.oneof(fc.jsonValue(), fc.constant(undefined)), async (at, change) => {
        const data = withOneChange(operation.data, at, change)
        // The client removes `__proto__` from responses.
        const withoutProto = (key: string, value: unknown) => (key === '__proto__' ? undefined : value)
        const sent: unknown = JSON.parse(JSON.stringify({ data }), withoutProto).data
        const read = await settles(operation, JSON.stringify({ success: true, data }), { status: 200 })
        if (typeof response === 'object') {
          const parsed = z.safeParse(response as z.core.$ZodType, sent)
          expect(read).toEqual(parsed.success ? parsed.data : undefined)
        }
      }),
      { numRuns: RUNS },
    )
  })
})

describe('a request is sent or an InvalidRequestError is thrown for any argument', () => {
  const invoke = async (name: OperationName, argument: unknown, options?: unknown) => {
    const { fetch, sent } = scriptedFetch(() => Response.json({ success: true, data: {} }))
    const error = await call(clientWith({ fetch }), name, argument, options).then(
      () => undefined,
      (error: unknown) => error,
    )
    if (error instanceof InvalidRequestError) {
      expect(error.issues.length).toBeGreaterThan(0)
      expect(sent).toHaveLength(0)
      return undefined
    }
    // The data of the stub does not fit every operation. Only the request matters here.
    if (error !== undefined) expect(error).toBeInstanceOf(UnexpectedResponseError)
    expect(sent).toHaveLength(1)
    return sent[0]
  }

  const anything = fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
  })

  it.each(rows)('of %s', async (name) => {
    await fc.assert(
      fc.asyncProperty(anything, async (argument) => {
        await invoke(name, argument)
      }),
      { numRuns: RUNS },
    )
  })

  it.each(rows)('of %s, with any options', async (name) => {
    const options = fc.oneof(
      anything,
      fc.record(
        { timeoutMs: anything, totalTimeoutMs: anything, maxRetries: anything, headers: anything, query: anything },
        { requiredKeys: [] },
      ),
      fc.record({ headers: fc.dictionary(fc.string(), fc.string()), query: fc.dictionary(fc.string(), anything) }),
    )
    const { run } = operation(name)
    await fc.assert(
      fc.asyncProperty(options, async (options) => {
        const { fetch, sent } = scriptedFetch(() => Response.json({ success: true, data: {} }))
        const error = await run(clientWith({ fetch }), options as never).catch((error: unknown) => error)
        // A short timeout may end the call before a request is sent.
        if (sent.length === 0)
          expect(error).toHaveProperty('code', expect.stringMatching(/^(invalid_request|timeout)$/))
      }),
      { numRuns: RUNS },
    )
  })

  const text = fc.oneof(
    fc.string({ minLength: 1 }),
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.string({ unit: 'binary', minLength: 1 }),
  )

  const values: Record<FieldKind, fc.Arbitrary<unknown>> = {
    identifier: text,
    'identifier?': text,
    'text?': text,
    number: fc.double({ noDefaultInfinity: true, noNaN: true }),
    address: fc
      .string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: 40, maxLength: 40 })
      .map((digits) => `0x${digits}`),
    url: fc.webUrl(),
  }

  it.each(rows)('of %s, and any text arrives unchanged', async (name, { method, fields }) => {
    const argument = fc.record(Object.fromEntries(Object.entries(fields).map(([field, kind]) => [field, values[kind]])))
    await fc.assert(
      fc.asyncProperty(argument, async (argument) => {
        const request = (await invoke(name, argument)) as SentRequest
        expect(request).toBeDefined()
        const url = new URL(request.url)
        expect(`${url.origin}${url.pathname}`).toBe(addressOf(name))
        // JSON has no negative zero.
        const plain = Object.fromEntries(Object.entries(argument).map(([key, value]) => [key, value === 0 ? 0 : value]))
        if (method === 'POST') expect(JSON.parse(`${request.body}`)).toEqual(plain)
        else expect(Object.fromEntries(url.searchParams)).toEqual(plain)
      }),
      { numRuns: RUNS },
    )
  })
})

it('no schema throws for any value', () => {
  fc.assert(
    fc.property(fc.constantFrom(...(Object.values(schemas) as z.core.$ZodType[])), fc.anything(), (schema, value) => {
      expect(typeof z.safeParse(schema, value).success).toBe('boolean')
    }),
    { numRuns: 1000 },
  )
})
