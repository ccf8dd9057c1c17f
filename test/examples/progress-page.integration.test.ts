import { CampaignClient } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { progressPage } from '../../examples/progress-page.ts'

const SECRET = 'the secret of the webhook'
const ada = { account: 'ada', platform: 'discord', pid: 'demo' }

function start() {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const service = createCampaignService({ deliver: (request) => page.fetch(request) })
  service.registerWebhook({ url: 'https://shop.example/webhooks/campaign', secret: SECRET })
  const client = new CampaignClient({
    baseUrl: 'https://service.example/api/v1',
    accessToken: 'any',
    fetch: service.fetch,
    maxRetries: 0,
  })
  const page = progressPage({ client, secret: SECRET, pid: 'demo', platform: 'discord', freshMs: 15_000 })
  const read = async (account = 'ada') => {
    const response = await page.request(`/progress/${account}`)
    return { status: response.status, text: await response.text() }
  }
  const readers = (count: number) => Promise.all(Array.from({ length: count }, () => read()))
  return { service, page, read, readers }
}

const pageWith = (total: number) => ({ status: 200, text: `<p>Ada has ${total} XP and rank 1.</p>` })

describe('progress-page', () => {
  test('makes one call for 300 concurrent readers, and no call for later readers', async () => {
    const { service, readers } = start()
    expect(new Set((await readers(300)).map(({ text }) => text))).toEqual(new Set([pageWith(1215).text]))
    expect(service.requests).toHaveLength(1)
    await readers(300)
    expect(service.requests).toHaveLength(1)
  })

  test('shows outdated progress immediately, and reads it again in the background with one call', async () => {
    const { service, read, readers } = start()
    await read()
    service.unregisterWebhook(service.webhooks[0]?.hook_id ?? '')
    service.completeTask({ ...ada, aid: 'feedback' })
    vi.advanceTimersByTime(15_001)
    expect(await readers(300)).toEqual(Array.from({ length: 300 }, () => pageWith(1215)))
    await vi.advanceTimersByTimeAsync(10)
    expect(await read()).toEqual(pageWith(1225))
    expect(service.requests).toHaveLength(2)
  })

  test('removes only the user of a webhook message from the cache', async () => {
    const { service, read } = start()
    await read()
    await read('grace')
    service.completeTask({ ...ada, aid: 'feedback' })
    await service.settle()
    expect(service.deliveries).toMatchObject([{ state: 'delivered' }])
    expect(await read()).toEqual(pageWith(1225))
    await read('grace')
    expect(service.requests.map(({ query }) => query.account?.[0])).toEqual(['ada', 'grace', 'ada'])
  })

  test('does not cache progress that a webhook message made outdated', async () => {
    const { service, read } = start()
    service.fail({ on: 'getUserProgress', kind: 'delay', delayMs: 1000 })
    const outdated = read()
    await vi.advanceTimersByTimeAsync(500)
    service.completeTask({ ...ada, aid: 'feedback' })
    await service.settle()
    await vi.advanceTimersByTimeAsync(500)
    expect(await outdated).toEqual(pageWith(1215))
    expect(await read()).toEqual(pageWith(1225))
  })

  test('shows the last progress during an outage, and never zero points', async () => {
    const { service, read, readers } = start()
    await read()
    vi.advanceTimersByTime(15_001)
    const outage = service.fail({ kind: 'status', status: 503, times: Number.POSITIVE_INFINITY })
    for (let minute = 0; minute < 10; minute++) {
      expect(await readers(300)).toEqual(Array.from({ length: 300 }, () => pageWith(1215)))
      await vi.advanceTimersByTimeAsync(60_000)
    }
    expect(service.requests).toHaveLength(11)
    const unknown = await read('grace')
    expect(unknown).toEqual({ status: 503, text: '<p>Your points are not available now.</p>' })
    outage.cancel()
    expect(await read('grace')).toMatchObject({ status: 200 })
  })

  test('tells a user without an entry from an outage, and remembers it briefly', async () => {
    const { service, read } = start()
    const invitation = { status: 200, text: '<p>Complete your first task to get points.</p>' }
    expect(await Promise.all(Array.from({ length: 300 }, () => read('lin')))).toEqual(
      Array.from({ length: 300 }, () => invitation),
    )
    expect(service.requests).toHaveLength(1)
    vi.advanceTimersByTime(5_001)
    expect(await read('lin')).toEqual(invitation)
    await vi.advanceTimersByTimeAsync(10)
    expect(service.requests).toHaveLength(2)
    // The player registers, and completes a task.
    const headers = { authorization: 'Bearer any', 'content-type': 'application/json' }
    const body = JSON.stringify({ ...ada, account: 'lin', name: 'Lin' })
    await service.fetch('https://service.example/api/v1/user', { method: 'POST', headers, body })
    service.completeTask({ ...ada, account: 'lin', aid: 'feedback' })
    await service.settle()
    expect(await read('lin')).toMatchObject({ status: 200, text: expect.stringContaining('Lin has 10 XP') })
  })

  test('escapes HTML in names', async () => {
    const { service, read } = start()
    const headers = { authorization: 'Bearer any', 'content-type': 'application/json' }
    const body = JSON.stringify({ ...ada, name: '<script>alert(1)</script>' })
    await service.fetch('https://service.example/api/v1/user', { method: 'POST', headers, body })
    expect((await read()).text).toContain('<p>&lt;script&gt;alert(1)&lt;/script&gt; has')
  })

  test('ignores an unsigned message', async () => {
    const { service, page, read } = start()
    await read()
    const response = await page.request('/webhooks/campaign', { method: 'POST', body: '{"id":"1","user":"ada"}' })
    expect(response.status).toBe(401)
    await read()
    expect(service.requests).toHaveLength(1)
  })
})
