import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CampaignClient } from 'campaign-client'
import { expect, test } from 'vitest'
import { findAward, progressFormatOf } from '../../../src/cli/award/find-award.ts'
import { run, scratchFolder } from '../command.ts'
import { listeningService } from '../service.ts'
import { localService, TOKEN, WALLET } from './deviation.ts'

const award = { address: WALLET, pid: 'demo', id: 'launch-1', xp: 5 }

/** Makes an award on a service that has the given wallet platform and rewards. Returns the client. */
async function clientWithAward(platform: string, type: string): Promise<CampaignClient> {
  const service = localService()
  const client = new CampaignClient({
    baseUrl: 'https://service.example/api/v1',
    accessToken: TOKEN,
    async fetch(input, init) {
      const url = new URL(String(input))
      const isRead = url.searchParams.has('platform')
      if (isRead && url.searchParams.get('platform') !== platform) return new Response('{}', { status: 400 })
      if (isRead) url.searchParams.set('platform', 'ethereum')
      const response = await service.fetch(url, init)
      if (!isRead || response.status !== 200) return response
      const text = (await response.text()).replace('"type":"xp"', `"type":"${type}"`)
      return new Response(text, { status: 200 })
    },
  })
  await client.rewardWallet(award)
  return client
}

test('without a profile, looks for an award on the platform ethereum', async () => {
  const client = await clientWithAward('ethereum', 'xp')
  expect(await findAward(client, award, progressFormatOf())).toBe(true)
  expect(await findAward(await clientWithAward('evm', 'xp'), award, progressFormatOf())).toBeUndefined()
})

test('without a profile, another amount or a missing amount proves nothing', async () => {
  const client = await clientWithAward('ethereum', 'xp')
  expect(await findAward(client, { ...award, xp: 4.6 }, progressFormatOf())).toBeUndefined()
  expect(await findAward(await clientWithAward('ethereum', 'badge'), award, progressFormatOf())).toBeUndefined()
})

test('reads the platform from a profile, and whether rewards have amounts', async () => {
  const client = await clientWithAward('evm', 'xp')
  expect(
    await findAward(client, award, progressFormatOf({ walletPlatform: 'evm', listsRewards: 'ids_and_amounts' })),
  ).toEqual({
    xp: 5,
  })
  expect(await findAward(client, award, progressFormatOf({ walletPlatform: 'evm', listsRewards: 'ids' }))).toBe(true)
  expect(
    await findAward(client, { ...award, id: 'other' }, progressFormatOf({ walletPlatform: 'evm' })),
  ).toBeUndefined()
})

test('award exits with 2 and sends nothing if the profile is of another service', async () => {
  const { env, service } = await listeningService()
  const folder = scratchFolder()
  const file = join(folder, 'profile.json')
  const target = { address: 'https://other.example/api/v1', issuer: null, subjectSha256: null }
  const checkedAt = new Date().toISOString()
  writeFileSync(
    file,
    JSON.stringify({ version: 1, checkedAt, target, pid: 'demo', client: {}, award: {}, answers: [] }),
  )
  writeFileSync(join(folder, 'party.csv'), `address,xp,id\n${WALLET},5,launch-1\n`)
  const { code, stderr } = await run(['award', 'party.csv', '--pid', 'demo', '--yes', '--profile', file], {
    env,
    cwd: folder,
  })
  expect(code).toBe(2)
  expect(stderr).toContain('is a profile of another base URL')
  expect(service.requests).toEqual([])
})
