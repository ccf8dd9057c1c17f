import { createCampaignService } from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'
import { operations } from '../contract/operations.ts'
import { BASE_URL } from './rest.ts'

/** Returns the type of every field, at every depth. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return typeof value[0] === 'object' ? [shapeOf(value[0])] : 'strings'
  // Metadata may have any fields: do not compare them.
  const isMetadata = (name: string): boolean => name === 'meta'
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(
    Object.entries(value).map(([name, content]) => [name, isMetadata(name) ? 'metadata' : shapeOf(content)]),
  )
}

describe.each(operations)(
  'the service responds to $name',
  ({ name, method, path, sent, writes, response: documented }) => {
    const url = `${BASE_URL}${path === 'not shown' ? '/webhook' : path}${writes ? '' : sent}`
    const request: RequestInit = {
      method,
      headers: { authorization: 'Bearer any', ...(writes && { 'content-type': 'application/json' }) },
      ...(writes && { body: sent }),
    }

    test('according to the contract', async () => {
      const response = await createCampaignService().fetch(url, request)
      expect(response.status).toBe(200)
      expect(shapeOf(await response.json())).toEqual(shapeOf(documented))
    })

    test('with 401 without a token, and with 403 to a token of another organization', async () => {
      const service = createCampaignService({ tokens: { any: { organization: 'other' } } })
      const before = service.state
      const statuses = [{ ...request, headers: {} }, request].map(
        async (init) => (await service.fetch(url, init)).status,
      )
      // The request for a webhook names no campaign.
      expect(await Promise.all(statuses)).toEqual([401, name === 'registerWebhook' ? 200 : 403])
      expect(service.state).toEqual(before)
    })
  },
)
