import { userActivity } from 'campaign-client/schemas'
import { createCampaignService } from 'campaign-client/testing'
import { parseWebhook, signWebhook } from 'campaign-client/webhook'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exampleActivity } from '../webhook/activity.ts'

const secret = 'a secret'
const message = exampleActivity({ id: 'm-1', team: 'analysts' })

/** Returns the message with one field replaced or removed, at any depth. */
function withOneChange(value: unknown, [first, ...rest]: readonly number[], replacement: unknown): unknown {
  if (first === undefined || typeof value !== 'object' || value === null) return replacement
  const key = Object.keys(value)[first % Object.keys(value).length]
  if (key === undefined) return replacement
  return { ...value, [key]: withOneChange(Reflect.get(value, key), rest, replacement) }
}

const kindOf = (payload: object): string => {
  const body = JSON.stringify(payload)
  return parseWebhook(secret, body, signWebhook(secret, body)).kind
}

describe('the schema of UserActivity', () => {
  it('accepts messages of the local service and keeps unknown fields', async () => {
    const bodies: string[] = []
    const service = createCampaignService({
      deliver: async (request) => {
        bodies.push(await request.text())
        return new Response()
      },
    })
    service.registerWebhook({ scope: 'user_activity', url: 'https://partner.example/hook', secret })
    service.emit({ kind: 'action_completed', account: 'ada', platform: 'discord', pid: 'demo', aid: 'follow' })
    await service.settle()
    const sent: unknown = JSON.parse(bodies[0] ?? '')
    expect(userActivity.parse(sent)).toEqual(sent)
    expect(userActivity.parse({ ...message, later: { field: 1 } })).toEqual({ ...message, later: { field: 1 } })
  })

  it.each(['id', 'user', 'campaign', 'event', 'rank'])('names a missing %s', (field) => {
    const { [field as 'id']: _, ...rest } = message
    expect(userActivity.safeParse(rest).error?.issues.map(({ path }) => path.join('.'))).toEqual([field])
  })

  it('accepts exactly the messages that parseWebhook recognises', () => {
    const anything = fc.oneof(fc.jsonValue(), fc.constantFrom('quest_completed', 'action_completed', undefined))
    fc.assert(
      fc.property(fc.array(fc.nat(12), { minLength: 1, maxLength: 4 }), anything, (at, replacement) => {
        const payload = JSON.parse(
          JSON.stringify({ ...(withOneChange(message, at, replacement) as object), id: 'm-1' }),
        )
        expect(userActivity.safeParse(payload).success).toBe(kindOf(payload) !== 'unknown')
      }),
      { numRuns: 500 },
    )
  })
})
