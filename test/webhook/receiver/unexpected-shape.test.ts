import { CampaignError } from 'campaign-client'
import { createWebhookReceiver, memoryStore, WebhookError, WebhookShapeError } from 'campaign-client/webhook'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { activity, deliveryOf, SECRET } from '../signed-message.ts'
import { observedReceiver, recordingStore } from './observed-receiver.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const statusOf = async (answer: Promise<Response>): Promise<number> => (await answer).status

/** A message of a known kind with two issues. */
const changed = (fields: Record<string, unknown> = {}) => activity({ email: undefined, xp_mul: '1', ...fields })
const ISSUES = [
  { path: ['email'], message: 'expected string, but the field is missing' },
  { path: ['xp_mul'], message: 'expected a finite number, received a numeric string' },
]

/** Messages whose documented type became unknown, or that have no scope or type. */
const misshapen = (): [name: string, message: { id: string }][] => [
  ['a completed task without its user', activity({ user: null })],
  [
    'a completed task without its XP',
    activity({ event: { type: 'action_completed', data: { action: { id: 'a', name: 'A', type: 't' } } } }),
  ],
  [
    'a completed quest without its campaign',
    activity({ campaign: null, event: { type: 'quest_completed', data: {} } }),
  ],
  ['a message without a scope', activity({ scope: undefined })],
  ['a user activity without a type', activity({ event: { data: {} } })],
]

describe('a receiver of a message with issues', () => {
  test('handles it, and passes the issues to onError', async () => {
    const { receiver, handled, rejections, errors } = observedReceiver()
    const message = changed({ id: 'm-1' })
    expect(await statusOf(receiver.fetch(deliveryOf(message)))).toBe(200)
    expect(handled).toMatchObject([{ kind: 'action_completed', payload: { email: '', xp_mul: 1 }, issues: ISSUES }])
    expect(rejections).toEqual([])
    expect(errors).toEqual([
      { error: expect.any(WebhookShapeError), context: { stage: 'message', endpoint: 'campaign', id: 'm-1' } },
    ])
    const [{ error } = { error: undefined }] = errors
    expect(error).toMatchObject({
      name: 'WebhookShapeError',
      code: 'unexpected_shape',
      message:
        'the message differs from its documented shape: email: expected string, but the field is missing; ' +
        'xp_mul: expected a finite number, received a numeric string',
      issues: ISSUES,
    })
    expect(error).toBeInstanceOf(CampaignError)
    expect(error).not.toBeInstanceOf(WebhookError)
  })

  test('passes them to onError before the handler runs', async () => {
    const order: string[] = []
    const receiver = createWebhookReceiver({
      endpoint: 'campaign',
      secret: SECRET,
      onError: () => order.push('onError'),
      handle: () => order.push('handle'),
    })
    await receiver.fetch(deliveryOf(changed()))
    expect(order).toEqual(['onError', 'handle'])
  })

  test('passes them to onError once for each claim: not for a duplicate, and again after a failure', async () => {
    let failures = 1
    const { receiver, errors } = observedReceiver({
      handle: () => {
        if (failures-- > 0) throw new Error('not yet')
      },
    })
    const message = changed()
    for (const status of [500, 200, 200, 200]) expect(await statusOf(receiver.fetch(deliveryOf(message)))).toBe(status)
    expect(errors.map(({ context }) => context.stage)).toEqual(['message', 'handle', 'message'])
  })

  test.each(misshapen())('handles %s as unknown, and passes the issues to onError', async (_, message) => {
    const { receiver, handled, errors } = observedReceiver()
    expect(await statusOf(receiver.fetch(deliveryOf(message)))).toBe(200)
    expect(handled).toMatchObject([{ kind: 'unknown', issues: [expect.anything()] }])
    expect(errors).toMatchObject([{ error: { issues: handled[0]?.issues }, context: { stage: 'message' } }])
  })

  test.each([
    ['as documented', activity()],
    ['of an undocumented scope', { id: 'm', scope: 'user_login' }],
    ['of an undocumented type', activity({ event: { type: 'level_up' }, user: null })],
  ])('does not call onError for a message %s', async (_, message) => {
    for (const unexpectedShape of ['handle', 'retry'] as const) {
      const { receiver, handled, errors } = observedReceiver({ unexpectedShape })
      expect(await statusOf(receiver.fetch(deliveryOf(message)))).toBe(200)
      expect(handled).toHaveLength(1)
      expect(errors).toEqual([])
    }
  })

  test('without onError warns at most once a minute and event type, without values', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const receiver = createWebhookReceiver({ endpoint: 'campaign', secret: SECRET, handle() {} })
    const send = (fields: object): Promise<Response> =>
      receiver.fetch(deliveryOf(changed({ ...fields, rank: 'a-value' })))
    for (let count = 0; count < 3; count++) await send({ id: `m-${count}` })
    expect(warn.mock.calls).toEqual([
      [
        expect.stringContaining('"campaign", message "m-0": the message is handled, but has an unexpected shape'),
        expect.any(WebhookShapeError),
      ],
    ])
    expect(String(warn.mock.calls)).not.toContain('a-value')
    await send({ event: { type: 'quest_completed', data: {} } })
    expect(warn).toHaveBeenCalledTimes(2)
    vi.advanceTimersByTime(60_000)
    await send({})
    expect(warn).toHaveBeenCalledTimes(3)
    expect(warn.mock.calls.at(-1)).toContain('(and 2 more since the last warning of this kind)')
  })
})

describe("a receiver with unexpectedShape: 'retry'", () => {
  test.each(misshapen())('responds to %s with 500 and does not claim it', async (_, message) => {
    const { store, calls } = recordingStore(memoryStore())
    const { receiver, handled, rejections, errors } = observedReceiver({ unexpectedShape: 'retry', store })
    const response = await receiver.fetch(deliveryOf(message))
    expect([response.status, await response.json()]).toEqual([500, { ok: false, error: 'internal_error' }])
    expect(rejections).toEqual([
      {
        reason: 'unexpected_shape',
        status: 500,
        endpoint: 'campaign',
        id: message.id,
        issues: [{ path: expect.anything(), message: expect.any(String) }],
      },
    ])
    expect([handled, errors, calls]).toEqual([[], [], []])
    expect(rejections[0]?.diagnose()).toEqual([])
  })

  test('handles a message whose required fields are there', async () => {
    const { receiver, handled, rejections, errors } = observedReceiver({ unexpectedShape: 'retry' })
    expect(await statusOf(receiver.fetch(deliveryOf(changed())))).toBe(200)
    expect(handled).toHaveLength(1)
    expect(rejections).toEqual([])
    expect(errors).toMatchObject([{ context: { stage: 'message' } }])
  })

  test('without onReject warns with the issues', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const receiver = createWebhookReceiver({
      endpoint: 'campaign',
      secret: SECRET,
      unexpectedShape: 'retry',
      handle() {},
    })
    await receiver.fetch(deliveryOf(activity({ user: null })))
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining('500 (unexpected_shape)'), expect.objectContaining({ issues: [expect.anything()] })],
    ])
  })

  test('refuses any other value of the option', () => {
    expect(() =>
      createWebhookReceiver({ endpoint: 'campaign', secret: SECRET, unexpectedShape: 'ignore' as never, handle() {} }),
    ).toThrow("unexpectedShape must be 'handle' or 'retry'")
  })
})
