import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { progressFormatOf } from '../../../src/cli/award/ask-service.ts'
import { run, scratchFolder } from '../command.ts'
import { listeningService } from '../service.ts'
import { WALLET } from './deviation.ts'

test('reads the platform from a profile, and whether rewards have amounts', () => {
  expect(progressFormatOf()).toEqual({ platform: 'ethereum', amounts: undefined, isAssumed: true })
  expect(progressFormatOf({ walletPlatform: 'evm' })).toEqual({ platform: 'evm', amounts: undefined, isAssumed: true })
  expect(progressFormatOf({ walletPlatform: 'evm', listsRewards: 'ids' })).toEqual({
    platform: 'evm',
    amounts: false,
    isAssumed: false,
  })
  expect(progressFormatOf({ walletPlatform: 'evm', listsRewards: 'ids_and_amounts' })).toEqual({
    platform: 'evm',
    amounts: true,
    isAssumed: false,
  })
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
