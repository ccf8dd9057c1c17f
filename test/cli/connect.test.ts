import { writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { listOf } from './award/set-up.ts'
import { jsonOf, run, scratchFolder } from './command.ts'
import { listeningService } from './service.ts'

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const tokenUntil = (exp: number) => `${part({ alg: 'none' })}.${part({ exp })}.signature`

describe('an expired token', () => {
  test.for([
    ['call', 'getCampaignInfo', '--pid', 'demo'],
    ['check', '--pid', 'demo'],
    ['types', 'demo'],
    ['award', 'list.csv', '--pid', 'demo', '--yes'],
    ['award', 'list.csv', '--pid', 'demo', '--dry-run'],
  ])('ends `%s %s` with 3 and the date, before anything is sent', async (args) => {
    const { env, service } = await listeningService()
    const cwd = scratchFolder()
    writeFileSync(join(cwd, 'list.csv'), listOf(1))
    const token = tokenUntil(1_700_000_000)
    writeFileSync(join(cwd, 'token'), token)
    for (const expired of [
      { CAMPAIGN_ACCESS_TOKEN: token },
      { CAMPAIGN_ACCESS_TOKEN: '', CAMPAIGN_ACCESS_TOKEN_FILE: 'token' },
    ]) {
      const { code, stderr } = await run(args, { env: { ...env, ...expired }, cwd })
      expect(code).toBe(3)
      expect(stderr).toContain('the token expired at 2023-11-14T22:13:20.000Z: nothing was sent')
    }
    expect(service.requests).toEqual([])
  })

  test('of a date out of range has no date in the message', async () => {
    const { env } = await listeningService()
    const { code, stderr } = await run(['call', 'getCampaignInfo', '--pid', 'demo'], {
      env: { ...env, CAMPAIGN_ACCESS_TOKEN: tokenUntil(-1e300) },
    })
    expect([code, stderr]).toEqual([3, expect.stringContaining('the token expired: nothing was sent')])
  })
})

describe('a service that cannot be reached', () => {
  const args = ['call', 'getCampaignInfo', '--pid', 'demo', '--json']

  test('behind HTTPS_PROXY: the advice names the proxy first', async () => {
    vi.stubEnv('HTTPS_PROXY', 'http://127.0.0.1:1')
    onTestFinished(() => void vi.unstubAllEnvs())
    const env = { CAMPAIGN_BASE_URL: 'https://service.invalid/api/v1', CAMPAIGN_ACCESS_TOKEN: 'any' }
    const called = await run(args, { env })
    const checked = await run(['check', '--pid', 'demo', '--json'], { env })
    for (const ended of [called, checked]) {
      expect(ended.code).toBe(4)
      expect(jsonOf(ended)).toMatchObject({ error: { advice: expect.stringMatching(/HTTPS_PROXY: check it first/) } })
    }
  })

  test('over https at an http port: the advice says that the server speaks http', async () => {
    const server = http.createServer((_, response) => response.end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const env = { CAMPAIGN_BASE_URL: `https://127.0.0.1:${port}/api/v1`, CAMPAIGN_ACCESS_TOKEN: 'any' }
    const called = await run(args, { env })
    const checked = await run(['check', '--pid', 'demo', '--json'], { env })
    for (const ended of [called, checked]) {
      expect(ended.code).toBe(4)
      expect(jsonOf(ended)).toMatchObject({ error: { advice: expect.stringMatching(/the server speaks http/) } })
    }
  })
})

test('call names the content type of a page that is not JSON', async () => {
  const server = http.createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<title>Sign in</title>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const env = { CAMPAIGN_BASE_URL: `http://127.0.0.1:${port}/api/v1`, CAMPAIGN_ACCESS_TOKEN: 'any' }
  const called = await run(['call', 'getCampaignInfo', '--pid', 'demo'], { env })
  expect(called.stderr).toContain('expected JSON, received text/html')

  const profile = join(scratchFolder(), 'profile.json')
  const checked = await run(['check', '--pid', 'demo', '--save', profile], { env })
  expect(checked.code).toBe(4)
  expect(checked.stderr).toContain('gave no usable response: HTTP 200, text/html, page "Sign in"')
  expect(checked.stderr).not.toContain('wrote')
})
