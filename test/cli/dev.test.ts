import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { jsonOf, run, scratchFolder } from './command.ts'
import { listeningService } from './service.ts'

test.each([
  ['{', 'is not JSON'],
  ['[]', 'must contain a JSON object'],
  ['{"campaigns":[{"id":""}]}', 'campaigns'],
  ['{"campaign":[]}', 'campaign is not an option'],
])('the seed %s is refused', async (seed, words) => {
  const file = join(scratchFolder(), 'seed.json')
  writeFileSync(file, seed)
  const { code, stdout, stderr } = await run(['dev', '--port', '0', '--seed', file])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(words)
})

test.each([
  [['--port', '70000'], 'from 0 to 65535'],
  [['--port', 'x'], 'from 0 to 65535'],
  [['--host', '0.0.0.0'], '--allowed-host'],
  [['--allowed-host', 'http://x'], 'without scheme and port'],
  [['--webhook', 'nonsense'], 'It must be a URL'],
  [['--seed', '/no/such/file'], 'no such file'],
  [['--token', 'two words'], 'without spaces and commas'],
  [['--token'], "option '--token <token>' argument missing\n  ↳ see --help"],
  [['--registration-path', '../up'], 'must be a path below the base URL'],
])('%j is refused', async (args, words) => {
  const { code, stdout, stderr } = await run(['dev', ...args])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(words)
})

test('a port in use is refused with advice', async () => {
  const { env } = await listeningService()
  const { port } = new URL(env.CAMPAIGN_BASE_URL as string)
  const ended = await run(['dev', '--port', port, '--json'])
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(`port ${port} is already in use`) })
  expect(jsonOf(ended)).toMatchObject({ error: { code: 'usage' } })
})

test('a host that is not an address of this machine is refused', async () => {
  const args = ['--host', '203.0.113.1', '--allowed-host', 'x', '--port', '0']
  const { code, stdout, stderr } = await run(['dev', ...args])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('not an address of this machine')
})
