import { CampaignClient } from 'campaign-client'
import { expect, test } from 'vitest'
import { startProcess } from './command.ts'

test('serves the service and its console, prints the URL first, and ends with 0 after SIGINT', async () => {
  const { child, ended, until } = await startProcess(['dev', '--port', '0'])
  const [, url = ''] = await until('stdout', /^(http:\S+)\n/)
  const client = new CampaignClient({ baseUrl: `${url}api/v1`, accessToken: 'any' })
  expect(await client.getCampaignPoints({ pid: 'demo' })).toMatchObject({ total_points: 1265 })
  const page = await fetch(url)
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  for (const name of ['page.js', 'page.css']) expect((await fetch(`${url}console/${name}`)).status).toBe(200)
  await until('stderr', /\/api\/v1 {2}accepts any token/)
  await until('stderr', /200 {2}getCampaignPoints/)
  child.kill('SIGINT')
  expect(await ended).toMatchObject({ code: 0, signal: null, stdout: `${url}\n` })
})

test('with --json, prints the URL as JSON and ends with 0 after SIGTERM', async () => {
  const running = await startProcess(['dev', '--port', '0', '--json', '--quiet'])
  const [line] = await running.until('stdout', /.*\n/)
  const { url } = JSON.parse(line)
  expect(JSON.parse(line)).toEqual({ version: 2, url, baseUrl: `${url}api/v1` })
  running.kill('SIGTERM')
  expect(await running.ended).toMatchObject({ code: 0, signal: null, stdout: line })
})
