import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CampaignClient } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'

const [major, minor] = process.versions.node.split('.').map(Number)
/** What each of them says of the Node it runs on. */
const runs = { 'undici-6': true, 'undici-7': major > 20 || minor >= 18, 'undici-8': major >= 22 }

for (const [name, canRun] of Object.entries(runs)) {
  test(`${name} carries calls, with a dispatcher of its own`, { skip: !canRun }, async () => {
    const { Agent, fetch } = await import(name)
    const dispatcher = new Agent()
    const service = createCampaignService()
    const { url, close } = await service.listen()
    const client = new CampaignClient({
      baseUrl: url,
      accessToken: 'any',
      fetch: (input, init) => fetch(input, { ...init, dispatcher }),
    })
    assert.equal((await client.getCampaignInfo({ pid: 'demo' })).id, 'demo')
    await client.rewardWallet({ address: `0x${'a'.repeat(40)}`, pid: 'demo', id: 'reward-1', xp: 10 })
    assert.equal(service.state.awards.length, 1)
    await dispatcher.close()
    await close()
  })
}
