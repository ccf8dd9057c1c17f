import { CampaignClient } from 'campaign-client'
import { afterEach, expect, test, vi } from 'vitest'

const AWARD = { address: '0x52908400098527886E0F7030069857D2E4169EE7', pid: 'demo', id: 'Ада-1', xp: 250 }

afterEach(() => {
  vi.unstubAllGlobals()
})

/** Returns the body that a write passes to `fetch`. */
async function sentBody(): Promise<BodyInit | null | undefined> {
  const sent: (BodyInit | null | undefined)[] = []
  const client = new CampaignClient({
    baseUrl: 'https://campaign.example/api/v1',
    accessToken: 'any',
    fetch: async (_url, init) => {
      sent.push(init?.body)
      return Response.json({ success: true })
    },
  })
  await client.rewardWallet(AWARD)
  expect(sent).toHaveLength(1)
  return sent[0]
}

test('the body of a write is a string', async () => {
  const body = await sentBody()
  expect(body).toBeTypeOf('string')
  expect(JSON.parse(body as string)).toEqual(AWARD)
})

// test/runtimes tests this on Deno itself.
test('on Deno, the body of a write is a Blob', async () => {
  vi.stubGlobal('Deno', { version: { deno: '2.9.5' } })
  const body = await sentBody()
  expect(body).toBeInstanceOf(Blob)
  expect(JSON.parse(await (body as Blob).text())).toEqual(AWARD)
})
