import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CampaignClient } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'

const [major, minor] = process.versions.node.split('.').map(Number)
/** Whether each version of undici supports this version of Node. */
const supported = { 'undici-6': true, 'undici-7': major > 20 || minor >= 18, 'undici-8': major >= 22 }

for (const [name, isSupported] of Object.entries(supported)) {
  test(`${name} sends calls with its own dispatcher`, { skip: !isSupported }, async () => {
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
