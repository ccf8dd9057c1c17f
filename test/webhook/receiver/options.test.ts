import { ConfigurationError } from 'campaign-client'
import { createWebhookReceiver, memoryStore, type WebhookReceiverOptions } from 'campaign-client/webhook'
import { describe, expect, test } from 'vitest'
import { activity, deliveryOf, SECRET } from '../signed-message.ts'

const REQUIRED: WebhookReceiverOptions = { endpoint: 'campaign', secret: 's3cret', handle: () => {} }

function create(options: Record<string, unknown>): () => unknown {
  return () => createWebhookReceiver({ ...REQUIRED, ...options } as WebhookReceiverOptions)
}

test.each<[string, (bytes: Uint8Array) => WebhookReceiverOptions['secret']]>([
  ['bytes', (bytes) => bytes],
  ['a list of bytes', (bytes) => [bytes]],
])('a secret given as %s is copied: wiping it afterwards changes nothing', async (_, secretOf) => {
  const bytes = new TextEncoder().encode(SECRET)
  const receiver = createWebhookReceiver({ ...REQUIRED, secret: secretOf(bytes) })
  bytes.fill(0)
  const forged = deliveryOf(activity(), { secret: '\0'.repeat(bytes.length) })
  expect((await receiver.fetch(forged)).status).toBe(401)
  expect((await receiver.fetch(deliveryOf(activity()))).status).toBe(200)
})

test('createWebhookReceiver reads each option once, by its name, and throws the error of a getter', () => {
  const reads: PropertyKey[] = []
  const proxy = new Proxy(REQUIRED, {
    ownKeys: () => [],
    get(target, name) {
      reads.push(name)
      return Reflect.get(target, name)
    },
  })
  createWebhookReceiver(proxy)
  expect(reads).toContain('endpoint')
  expect(new Set(reads).size).toBe(reads.length)
  const failure = new Error('no secret')
  const hostile = Object.defineProperty({ ...REQUIRED }, 'secret', {
    get() {
      throw failure
    },
  })
  expect(() => createWebhookReceiver(hostile)).toThrow(failure)
})

test('createWebhookReceiver reports all wrong options at once', () => {
  try {
    createWebhookReceiver({ endpoint: '', misspelt: 1, maxRunMs: 265_000, leaseMs: 30_001, handle: 5 } as never)
    expect.unreachable()
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError)
    const { issues } = error as ConfigurationError
    expect(issues.map(({ path }) => path)).toEqual([['misspelt'], ['endpoint'], ['secret'], ['handle'], ['maxRunMs']])
  }
})

describe('createWebhookReceiver refuses at creation', () => {
  test.each([undefined, null, 'campaign', 7])('options that are %j', (options) => {
    expect(() => createWebhookReceiver(options as never)).toThrow(ConfigurationError)
    expect(() => createWebhookReceiver(options as never)).toThrow(/must be an object/)
  })

  test.each([undefined, null, '', '   ', 7, {}])('the endpoint %j', (endpoint) => {
    expect(create({ endpoint })).toThrow(ConfigurationError)
    expect(create({ endpoint })).toThrow(/endpoint must be a non-empty string/)
  })

  test.each([[undefined], [null], [''], [[]], [['a', '']], [7], [{}], [new Uint8Array()], [Array(6).fill('s')]])(
    'the secret %j',
    (secret) => {
      expect(create({ secret })).toThrow(ConfigurationError)
    },
  )

  test('a missing secret, and mentions the environment variable', () => {
    for (const secret of [undefined, null]) {
      expect(create({ secret })).toThrow(/secret is missing.*environment variable/)
    }
  })

  test.each(['handle', 'onReject', 'onError'])('%s that is not a function', (name) => {
    expect(create({ [name]: 'text' })).toThrow(ConfigurationError)
    expect(create({ [name]: null })).toThrow(`${name} must be a function, got null`)
  })

  test('a store that lacks a method, and names the method', () => {
    const { extend: _, ...rest } = memoryStore()
    expect(create({ store: rest })).toThrow(ConfigurationError)
    expect(create({ store: rest })).toThrow(/store lacks the method extend; pass sqliteStore\(path\), /)
    expect(create({ store: {} })).toThrow(/store lacks the methods claim, extend, complete, release/)
    for (const [store, name] of [
      [null, 'null'],
      [memoryStore, 'function'],
      ['redis://localhost', 'string'],
    ]) {
      expect(create({ store })).toThrow(`store must be an object, got ${name}; pass sqliteStore(path), `)
    }
  })

  const NUMBERS: [name: string, wanted: string][] = [
    ['maxBodyBytes', 'a whole number'],
    ['deadlineMs', 'a number of milliseconds'],
    ['leaseMs', 'a number of milliseconds'],
    ['maxRunMs', 'a number of milliseconds'],
    ['retainMs', 'a number of milliseconds'],
  ]

  test.each(NUMBERS)('%s that is not a number', (name, wanted) => {
    for (const value of ['5', null, {}, 5n]) {
      expect(create({ [name]: value })).toThrow(ConfigurationError)
      expect(create({ [name]: value })).toThrow(`${name} must be ${wanted}`)
    }
  })

  test.each(NUMBERS)('%s out of its range', (name, wanted) => {
    for (const value of [0, -1, Number.NaN, Infinity, 2 ** 60]) {
      expect(create({ [name]: value })).toThrow(ConfigurationError)
      expect(create({ [name]: value })).toThrow(new RegExp(`${name} must be ${wanted}.*, got ${value}`))
    }
  })

  test('a fraction of a byte', () => {
    expect(create({ maxBodyBytes: 10.5 })).toThrow(ConfigurationError)
  })

  test('a deadline later than the last retry', () => {
    expect(create({ deadlineMs: 395_001 })).toThrow(ConfigurationError)
    expect(create({ deadlineMs: 395_000 })).not.toThrow()
  })

  test('a retention that ends before the last retry', () => {
    expect(create({ retainMs: 394_999 })).toThrow(ConfigurationError)
    expect(create({ retainMs: 395_000 })).not.toThrow()
  })

  test('a claim that could still exist at the last retry', () => {
    expect(create({ maxRunMs: 265_000, leaseMs: 30_001 })).toThrow(ConfigurationError)
    expect(create({ maxRunMs: 265_000, leaseMs: 30_001 })).toThrow(
      /at most 295000, got 265000 \+ 30001 = 295001.*last retry of the service comes 300 s after/,
    )
    expect(create({ maxRunMs: 265_001 })).toThrow(ConfigurationError)
    expect(create({ leaseMs: 55_001 })).toThrow(ConfigurationError)
    expect(create({ maxRunMs: 265_000, leaseMs: 30_000 })).not.toThrow()
  })

  test('a secret in the wrong option, without showing it', () => {
    for (const name of ['handle', 'store', ...NUMBERS.map(([name]) => name)]) {
      expect(create({ [name]: 'whsec_oops' })).not.toThrow(/oops/)
      expect(create({ [name]: 'whsec_oops' })).toThrow(ConfigurationError)
    }
  })
})
