import { userActivity } from 'campaign-client/schemas'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { exampleActivity } from '../webhook/activity.ts'

// test/webhook/event/shape.test.ts compares the schema with parseWebhook.
const message = exampleActivity({ id: 'm-1', team: 'analysts' })

describe('the schema of UserActivity', () => {
  it('accepts a documented message and keeps unknown fields', () => {
    expect(userActivity.parse({ ...message, later: { field: 1 } })).toEqual({ ...message, later: { field: 1 } })
  })

  it.each(['id', 'user', 'campaign', 'event', 'scope'])('names a missing %s', (field) => {
    const { [field as 'id']: _, ...rest } = message
    expect(userActivity.safeParse(rest).error?.issues.map(({ path }) => path.join('.'))).toEqual([field])
  })

  it.each([
    ['another scope', { scope: 'user_login' }, 'scope'],
    ['another type', { event: { type: 'level_up' } }, 'event.type'],
    ['an empty id', { id: '' }, 'id'],
  ])('refuses %s', (_, changed, path) => {
    const { issues = [] } = userActivity.safeParse({ ...message, ...changed }).error ?? {}
    expect(issues.map((issue) => issue.path.join('.'))).toEqual([path])
  })

  it.each([undefined, null, [], 'x', 5])('refuses %j', (value) => {
    expect(userActivity.safeParse(value).error?.issues).toMatchObject([{ path: [], message: 'expected object' }])
  })

  it("returns a message's lenient fields with their documented types", () => {
    const { team, rank, ...payload } = { ...exampleActivity({ id: 'm-1', xp_mul: 1, team: '', rank: 7 }) }
    const stored = { ...payload, xp_mul: '1', rank: null, wallet: null }
    expect(userActivity.parse(stored)).toEqual({ ...payload, wallet: '', team: '' })
  })

  it("is part of a partner's own schema", () => {
    const row = z.object({ at: z.string(), message: z.pipe(z.unknown(), userActivity) })
    expect(row.safeParse({ at: 'now', message }).success).toBe(true)
    expect(row.safeParse({ at: 'now', message: { ...message, user: 1 } }).error?.issues).toMatchObject([
      { path: ['message', 'user'] },
    ])
  })
})
