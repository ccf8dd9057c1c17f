import { userActivity } from 'campaign-client/schemas'
import { createCampaignService } from 'campaign-client/testing'
import { isTestMessage, parseWebhook, safeParseWebhook, type WebhookEvent } from 'campaign-client/webhook'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { activity, SECRET, sign } from '../signed-message.ts'

type Fields = Record<string, unknown>

const parseText = (body: string): WebhookEvent => parseWebhook(SECRET, body, sign(body))
const parse = (message: unknown): WebhookEvent => parseText(JSON.stringify(message))

/** Returns the message with another value at `path`. `undefined` removes the field. */
function withField(message: Fields, path: string, value: unknown): Fields {
  const [name, ...rest] = path.split('.') as [string, ...string[]]
  return { ...message, [name]: rest.length ? withField(message[name] as Fields, rest.join('.'), value) : value }
}

const withFields = (message: Fields, fields: Fields): Fields =>
  Object.entries(fields).reduce((changed, [path, value]) => withField(changed, path, value), message)

function fieldAt(message: unknown, path: string): unknown {
  return path.split('.').reduce((value, name) => (value as Fields | undefined)?.[name], message)
}

function hasFieldAt(message: unknown, path: string): boolean {
  const names = path.split('.')
  const name = names.pop() as string
  const owner = names.length === 0 ? message : fieldAt(message, names.join('.'))
  return typeof owner === 'object' && owner !== null && Object.hasOwn(owner, name)
}

const pathsOf = ({ issues }: WebhookEvent): string[] => issues.map(({ path }) => path.join('.'))

/** The message of the Test button of the admin panel. It has every documented field. */
const TEST_MESSAGE = activity({
  user_id: 'u-1',
  wallet: '0x52908400098527886E0F7030069857D2E4169EE7',
  email: 'zoe@example.com',
  team: 'red',
  event: {
    type: 'action_completed',
    data: {
      account: 'zoe',
      action: { id: 'a-1', name: 'Follow', type: 'social', meta: { url: 'https://example.com' } },
      xp: 10,
    },
  },
})

const WHOLE = {
  action_completed: TEST_MESSAGE,
  quest_completed: withField(TEST_MESSAGE, 'event.type', 'quest_completed'),
}
type Kind = keyof typeof WHOLE
const KINDS = Object.keys(WHOLE) as Kind[]

const LENIENT = {
  numbers: ['total_xp', 'ref_xp', 'ugc_xp', 'xp_mul', 'rank'],
  texts: ['campaign.name', 'event.data.action.name', 'event.data.action.type'],
  rareTexts: ['user_id', 'event.data.account'],
  emptyTexts: ['wallet', 'email', 'team'],
}

describe('a message as documented', () => {
  test.each(KINDS)('of type %s has its kind, its fields as its payload, and no issues', (kind) => {
    const message = WHOLE[kind]
    expect(parse(message)).toEqual({
      kind,
      id: message.id,
      scope: 'user_activity',
      type: kind,
      payload: message,
      issues: [],
    })
  })

  test('has no issues without the fields of the Test message', () => {
    const message = activity()
    expect(parse(message)).toMatchObject({ kind: 'action_completed', payload: message, issues: [] })
  })

  test.each([
    {},
    { action: { id: 'a-1', name: 'Follow', type: 'social' }, xp: 10, account: 'zoe' },
    { quest: { id: 'q-1' } },
  ])('about a quest may have the data %j', (data) => {
    const message = activity({ event: { type: 'quest_completed', data } })
    expect(parse(message)).toMatchObject({ kind: 'quest_completed', payload: message, issues: [] })
  })

  test.each<[path: string, value: unknown]>([
    ['event.data.action.meta', {}],
    ['wallet', ''],
    ['email', ''],
    ['team', ''],
    ['total_xp', 0],
    ['rank', -1.5],
    ['xp_mul', 1e300],
  ])('may have %s: %j', (path, value) => {
    const message = withField(TEST_MESSAGE, path, value)
    expect(parse(message)).toMatchObject({ kind: 'action_completed', payload: message, issues: [] })
  })

  test('of the local service has no issues, nor has its Test message', async () => {
    const bodies: string[] = []
    const service = createCampaignService({
      deliver: async (request) => {
        bodies.push(await request.text())
        return new Response()
      },
    })
    service.registerWebhook({ url: 'https://partner.example/hook', secret: SECRET })
    const user = { account: 'ada', platform: 'discord', pid: 'demo' }
    service.emit({ kind: 'action_completed', ...user, aid: 'connect-wallet' })
    service.emit({ kind: 'quest_completed', ...user, cid: 'welcome' })
    await service.settle()
    await service.testWebhook({ account: 'ada', platform: 'discord' })
    const events = bodies.map(parseText)
    expect(events.map(({ kind }) => kind).sort()).toEqual(['action_completed', 'action_completed', 'quest_completed'])
    expect(events.flatMap(({ issues }) => issues)).toEqual([])
    expect(events.map(isTestMessage)).toEqual([false, false, true])
  })
})

describe('a required field', () => {
  const missing = { string: [undefined, null, 1, {}, []], object: [undefined, null, 'x', []] }
  const required: [kind: Kind, path: string, values: unknown[]][] = [
    ...KINDS.flatMap((kind): [Kind, string, unknown[]][] => [
      [kind, 'user', missing.string],
      [kind, 'campaign', missing.object],
      [kind, 'campaign.id', missing.string],
    ]),
    ['action_completed', 'event.data', missing.object],
    ['action_completed', 'event.data.action', missing.object],
    ['action_completed', 'event.data.action.id', missing.string],
    ['action_completed', 'event.data.xp', [undefined, null, {}, true, '', 'x', '0x1f', '1e400', ' 1']],
  ]

  test.each(required.flatMap(([kind, path, values]) => values.map((value) => [kind, path, value] as const)))(
    'of %s that is missing or of another type makes the message unknown: %s is %j',
    (kind, path, value) => {
      const message = withField(WHOLE[kind], path, value)
      expect(parse(message)).toEqual({
        kind: 'unknown',
        id: message.id,
        scope: 'user_activity',
        type: kind,
        payload: JSON.parse(JSON.stringify(message)),
        issues: [{ path: path.split('.'), message: expect.stringMatching(/^expected /) }],
      })
    },
  )

  test('that is a number and not finite makes the message unknown', () => {
    const text = JSON.stringify(activity()).replace('"xp":10', '"xp":1e400')
    const event = parseText(text)
    expect(event.kind).toBe('unknown')
    expect(event.issues).toEqual([
      { path: ['event', 'data', 'xp'], message: 'expected a finite number, received Infinity' },
    ])
  })

  test.each([
    ['10', 10],
    ['1.5', 1.5],
    ['-2', -2],
    ['1e3', 1000],
  ])('XP as the numeric string %j becomes a number and is an issue', (text, xp) => {
    const event = parse(withField(activity(), 'event.data.xp', text))
    expect(event).toMatchObject({ kind: 'action_completed', payload: { event: { data: { xp } } } })
    expect(event.issues).toEqual([
      { path: ['event', 'data', 'xp'], message: 'expected a finite number, received a numeric string' },
    ])
  })

  test('may be empty text', () => {
    const message = withFields(TEST_MESSAGE, { user: '', 'campaign.id': '', 'event.data.action.id': '' })
    expect(parse(message)).toMatchObject({ kind: 'action_completed', payload: message, issues: [] })
  })
})

describe('a field that no handler needs', () => {
  /** Parses a message with one changed field. It must keep its kind, and all its other fields. */
  function parseWith(kind: Kind, path: string, value: unknown): WebhookEvent {
    const event = parse(withField(WHOLE[kind], path, value))
    expect(event.kind).toBe(kind)
    const [withoutField, expected] = [event.payload, WHOLE[kind]].map((payload) => withField(payload, path, undefined))
    expect(withoutField).toEqual(expected)
    return event
  }

  test.each(LENIENT.numbers)('%s is absent if it is no number, and a numeric string becomes a number', (path) => {
    for (const kind of KINDS) {
      for (const value of [undefined, null, {}, [], true, '', 'x', '1e400']) {
        const event = parseWith(kind, path, value)
        expect(hasFieldAt(event.payload, path)).toBe(false)
        expect(pathsOf(event)).toEqual([path])
      }
      const event = parseWith(kind, path, '1.5')
      expect(fieldAt(event.payload, path)).toBe(1.5)
      expect(pathsOf(event)).toEqual([path])
    }
  })

  const lenient: [name: string, paths: string[], values: unknown[], fallback: unknown, documented: unknown[]][] = [
    ['absent if it is no text', LENIENT.texts, [undefined, null, 1, {}, []], undefined, []],
    ['absent if it is no text', LENIENT.rareTexts, [undefined, null, 1, {}], undefined, [undefined, null]],
    [
      'absent if it is no object',
      ['event.data.action.meta'],
      [undefined, null, 'x', 1, []],
      undefined,
      [undefined, null],
    ],
    ['empty if it is no text', ['wallet', 'email'], [undefined, null, 1, {}], '', [null]],
    ['empty if it is no text', ['team'], [undefined, null, 1, {}], '', [undefined, null]],
  ]
  const lenientFields = lenient.flatMap(([name, paths, ...rest]) => paths.map((path) => [path, name, ...rest] as const))
  test.each(lenientFields)('%s is %s, which is an issue unless documented', (path, _, values, fallback, documented) => {
    for (const kind of KINDS) {
      for (const value of values) {
        const event = parseWith(kind, path, value)
        expect([fieldAt(event.payload, path), hasFieldAt(event.payload, path)]).toEqual([fallback, fallback === ''])
        expect(pathsOf(event)).toEqual(documented.includes(value) ? [] : [path])
      }
    }
  })

  test('five changes at once lose no event', () => {
    const changes = { email: null, team: null, rank: null, xp_mul: '1', wallet: undefined }
    const event = parse(withFields(TEST_MESSAGE, changes))
    expect(event.kind).toBe('action_completed')
    const { rank: _, ...payload } = withFields(TEST_MESSAGE, { email: '', team: '', xp_mul: 1, wallet: '' })
    expect(event.payload).toEqual(payload)
    expect(event.issues).toEqual([
      { path: ['wallet'], message: 'expected string, but the field is missing' },
      { path: ['xp_mul'], message: 'expected a finite number, received a numeric string' },
      { path: ['rank'], message: 'expected a finite number, received null' },
    ])
  })
})

describe('the data of a completed quest', () => {
  const questWith = (data: unknown): WebhookEvent => parse(withField(WHOLE.quest_completed, 'event.data', data))

  test.each([undefined, null, 'x', []])('is {} if it is %j', (data) => {
    const event = questWith(data)
    expect(event).toMatchObject({ kind: 'quest_completed', payload: { event: { type: 'quest_completed' } } })
    expect(fieldAt(event.payload, 'event.data')).toEqual({})
    expect(pathsOf(event)).toEqual(['event.data'])
  })

  test.each<[action: unknown, path: string]>([
    [null, 'action'],
    ['a-1', 'action'],
    [[], 'action'],
    [{}, 'action.id'],
    [{ id: 1, name: 'Follow', type: 'social' }, 'action.id'],
  ])('has no action if that is %j', (action, path) => {
    const event = questWith({ action, xp: 1, more: true })
    expect(event.kind).toBe('quest_completed')
    expect(fieldAt(event.payload, 'event.data')).toEqual({ xp: 1, more: true })
    expect(pathsOf(event)).toContain(`event.data.${path}`)
  })

  test('has no XP if that is no number', () => {
    for (const xp of [null, 'x', {}]) {
      const event = questWith({ xp })
      expect(fieldAt(event.payload, 'event.data')).toEqual({})
      expect(pathsOf(event)).toEqual(['event.data.xp'])
    }
    expect(fieldAt(questWith({ xp: '5' }).payload, 'event.data')).toEqual({ xp: 5 })
  })
})

describe('a message of an undocumented scope or type', () => {
  test.each<[string, Fields, Fields]>([
    ['another scope', { scope: 'user_reward' }, { scope: 'user_reward', type: 'action_completed' }],
    ['another scope and no event', { scope: 'user_login', event: undefined }, { scope: 'user_login' }],
    ['a future type', { event: { type: 'level_up', data: {} } }, { scope: 'user_activity', type: 'level_up' }],
    [
      'a future type with the data of a completed task',
      { event: { ...(TEST_MESSAGE.event as Fields), type: 'action_reverted' } },
      { scope: 'user_activity', type: 'action_reverted' },
    ],
    ['a type named like a method', { event: { type: 'toString' } }, { scope: 'user_activity', type: 'toString' }],
    [
      'a future type and fields of other types',
      { event: { type: 'level_up' }, user: 1, wallet: null, rank: 'first' },
      { scope: 'user_activity', type: 'level_up' },
    ],
  ])('is unknown, and has no issues: %s', (_, changed, expected) => {
    const message = JSON.parse(JSON.stringify(activity(changed)))
    expect(parse(message)).toEqual({ kind: 'unknown', id: message.id, ...expected, payload: message, issues: [] })
  })

  test.each<[string, Fields, Fields, string]>([
    ['no scope', { scope: undefined }, { type: 'action_completed' }, 'scope'],
    ['a scope that is null', { scope: null }, { type: 'action_completed' }, 'scope'],
    ['a scope that is no text', { scope: 7 }, { type: 'action_completed' }, 'scope'],
    ['no event', { event: undefined }, { scope: 'user_activity' }, 'event'],
    ['an event that is null', { event: null }, { scope: 'user_activity' }, 'event'],
    ['an event that is a list', { event: [] }, { scope: 'user_activity' }, 'event'],
    ['no type', { event: { data: {} } }, { scope: 'user_activity' }, 'event.type'],
    ['a type that is no text', { event: { type: 7, data: {} } }, { scope: 'user_activity' }, 'event.type'],
  ])('is unknown, and has an issue if the scope or type is no text: %s', (_, changed, expected, path) => {
    const message = JSON.parse(JSON.stringify(activity(changed)))
    const event = parse(message)
    expect(event).toEqual({
      kind: 'unknown',
      id: message.id,
      ...expected,
      payload: message,
      issues: [{ path: path.split('.'), message: expect.stringMatching(/^expected /) }],
    })
  })

  test('may have only an id, and then lacks its scope', () => {
    expect(parse({ id: 'x' })).toMatchObject({ kind: 'unknown', id: 'x', payload: { id: 'x' } })
    expect(pathsOf(parse({ id: 'x' }))).toEqual(['scope'])
  })
})

test('fields that the API description does not show are kept, at every depth', () => {
  for (const kind of KINDS) {
    let message: Fields = WHOLE[kind]
    for (const path of ['new', 'campaign.new', 'event.new', 'event.data.new', 'event.data.action.new']) {
      message = withField(message, path, { kept: [1, null] })
    }
    expect(parse(message)).toMatchObject({ kind, payload: message, issues: [] })
  }
})

describe('any message', () => {
  const PATHS = [
    ...['user', 'user_id', 'wallet', 'email', 'campaign', 'campaign.id', 'campaign.name', 'team', 'scope', 'event'],
    ...['event.type', 'event.data', 'event.data.action', 'event.data.account', 'event.data.xp', ...LENIENT.numbers],
    ...['event.data.action.id', 'event.data.action.name', 'event.data.action.type', 'event.data.action.meta'],
  ]
  const SENTINEL = 'a-value-of-the-message'
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom<unknown>(undefined, null, '', '7', '1e400', 0, {}, [], SENTINEL, { id: SENTINEL }),
    fc.constantFrom('action_completed', 'quest_completed', 'user_activity'),
  )
  /** A documented message with up to five changed fields. A change may remove the object of a later change. */
  const changed = fc
    .tuple(fc.constantFrom(...KINDS), fc.array(fc.tuple(fc.constantFrom(...PATHS), value), { maxLength: 5 }))
    .map(([kind, changes]) =>
      changes.reduce<Fields>((message, [path, replacement]) => {
        const owner = path.includes('.') ? fieldAt(message, path.slice(0, path.lastIndexOf('.'))) : message
        const canChange = typeof owner === 'object' && owner !== null && !Array.isArray(owner)
        return canChange ? withField(message, path, replacement) : message
      }, WHOLE[kind]),
    )
    .map((message): Fields => JSON.parse(JSON.stringify(message)))
    // Another test covers the name __proto__.
    .filter((message) => !JSON.stringify(message).includes('"__proto__":'))

  const isText = (field: unknown): field is string => typeof field === 'string'
  const isNumber = (field: unknown): boolean =>
    Number.isFinite(field) ||
    (isText(field) && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(field) && Number.isFinite(+field))
  const isObject = (field: unknown): boolean => typeof field === 'object' && field !== null && !Array.isArray(field)

  test('has the kind of its type if it has all fields that a handler acts on, and is otherwise unknown', () => {
    fc.assert(
      fc.property(changed, (message) => {
        const type = isObject(message.event) ? fieldAt(message, 'event.type') : undefined
        const isKnown =
          message.scope === 'user_activity' &&
          isText(message.user) &&
          isObject(message.campaign) &&
          isText(fieldAt(message, 'campaign.id')) &&
          (type === 'quest_completed' ||
            (type === 'action_completed' &&
              isObject(fieldAt(message, 'event.data')) &&
              isObject(fieldAt(message, 'event.data.action')) &&
              isText(fieldAt(message, 'event.data.action.id')) &&
              isNumber(fieldAt(message, 'event.data.xp'))))
        const event = parse(message)
        expect(event.kind).toBe(isKnown ? type : 'unknown')
        if (event.kind === 'unknown') expect(event.payload).toEqual(message)
      }),
      { numRuns: 2000 },
    )
  })

  test('of a known kind has a payload of the documented types, and an issue for each value that was changed', () => {
    fc.assert(
      fc.property(changed, (message) => {
        const { kind, payload, issues } = parse(message)
        fc.pre(kind !== 'unknown')
        for (const path of PATHS) {
          const field = fieldAt(payload, path)
          if (LENIENT.emptyTexts.includes(path)) expect(isText(field)).toBe(true)
          else if (LENIENT.numbers.includes(path)) expect(field === undefined || Number.isFinite(field)).toBe(true)
          else if (LENIENT.texts.includes(path) || LENIENT.rareTexts.includes(path)) {
            expect(field === undefined || isText(field)).toBe(true)
          }
          const original = fieldAt(message, path)
          // Fields inside an object are compared by themselves.
          const isSame = isObject(original) ? isObject(field) : JSON.stringify(field) === JSON.stringify(original)
          const wasChanged = original !== undefined && !isSame
          const ownerWasRemoved = path.startsWith('event.data.action.') && !hasFieldAt(payload, 'event.data.action')
          const mayBeNull = [...LENIENT.emptyTexts, ...LENIENT.rareTexts, 'event.data.action.meta'].includes(path)
          if (!wasChanged || ownerWasRemoved || (original === null && mayBeNull)) continue
          // The issue is about the field or, for an object, about a field inside it.
          expect(issues.map((issue) => `${issue.path.join('.')}.`)).toContainEqual(expect.stringContaining(`${path}.`))
        }
      }),
      { numRuns: 2000 },
    )
  })

  test('has issues with a documented path, and without values', () => {
    fc.assert(
      fc.property(changed, (message) => {
        const { issues } = parse(message)
        for (const { path } of issues) expect(PATHS).toContain(path.join('.'))
        expect(new Set(issues.map(({ path }) => path.join('.'))).size).toBe(issues.length)
        expect(JSON.stringify(issues)).not.toContain(SENTINEL)
      }),
    )
  })

  test('that is a JSON object with an id parses, and keeps its id', () => {
    const json = fc.jsonValue()
    const fields = fc.record(
      { scope: fc.oneof(json, fc.constant('user_activity')), event: json, campaign: json, user: json },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fields, (id, shape) => {
        const body = JSON.stringify({ ...shape, id })
        expect(safeParseWebhook(SECRET, body, sign(body))).toMatchObject({ ok: true, event: { id } })
      }),
    )
  })

  test('is accepted by the schema userActivity if its kind is known, with the same result; twice changes nothing', () => {
    fc.assert(
      fc.property(changed, (message) => {
        const { kind, payload, issues } = parse(message)
        const parsed = userActivity.safeParse(message)
        expect(parsed.success).toBe(kind !== 'unknown')
        if (parsed.success) {
          expect(parsed.data).toEqual(payload)
          expect(userActivity.parse(parsed.data)).toEqual(parsed.data)
        } else if (issues.length > 0) {
          expect(parsed.error.issues.map(({ path }) => path)).toEqual(issues.map(({ path }) => path))
        }
      }),
      { numRuns: 1000 },
    )
  })
})

describe('isTestMessage', () => {
  test('is true for the Test message', () => {
    expect(isTestMessage(parse(TEST_MESSAGE))).toBe(true)
  })

  test('is true if a field of the Test message is null, and therefore absent from the payload', () => {
    for (const path of ['user_id', 'event.data.account', 'event.data.action.meta']) {
      expect(isTestMessage(parse(withField(TEST_MESSAGE, path, null)))).toBe(true)
    }
  })

  test('is true for a copy of the event, if none of the fields was null', () => {
    expect(isTestMessage(JSON.parse(JSON.stringify(parse(TEST_MESSAGE))))).toBe(true)
  })

  test.each(['user_id', 'event.data.account', 'event.data.action.meta'])('is false without %s', (path) => {
    expect(isTestMessage(parse(withField(TEST_MESSAGE, path, undefined)))).toBe(false)
  })

  test('is false for any other kind', () => {
    expect(isTestMessage(parse(WHOLE.quest_completed))).toBe(false)
    expect(isTestMessage(parse(withField(TEST_MESSAGE, 'user', 1)))).toBe(false)
    expect(isTestMessage(parse(withField(TEST_MESSAGE, 'scope', 'user_login')))).toBe(false)
  })
})
