import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CampaignClient } from 'campaign-client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { scratchFolder, startProcess } from './command.ts'

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

describe('without its parent', () => {
  /** Starts `dev` in a project whose package has an executable with a name. `within` starts that executable. */
  async function startWithin(name: string, script: string, within: readonly string[]) {
    const cwd = scratchFolder()
    mkdirSync(join(cwd, 'node_modules/.bin'), { recursive: true })
    writeFileSync(join(cwd, 'package.json'), '{"name":"project","version":"1.0.0"}')
    writeFileSync(join(cwd, 'node_modules/.bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    const env = { npm_config_cache: join(cwd, 'cache'), npm_config_update_notifier: 'false' }
    const running = await startProcess(['dev', '--port', '0'], { cwd, env, within })
    const [, url = ''] = await running.until('stdout', /^(http:\S+)\n/)
    await running.until('stderr', /Ctrl-C/)
    return { ...running, url }
  }
  // In these tests, the executable of the package starts the command that follows it.
  const throughNpx = () => startWithin('campaign-client', 'exec "$@"', ['npx', 'campaign-client'])

  test.each(['SIGTERM', 'SIGKILL'] as const)('ends if npx started it and ends by %s', async (signal) => {
    const { kill, ended, url } = await throughNpx()
    kill(signal)
    // Its output ends with the last of its processes.
    await ended
    await expect(fetch(url)).rejects.toThrow('fetch failed')
  })

  test('stays if another program started it, even one that npx started', async () => {
    const script = '"$@" & echo "pid $! of $PPID $$" >&2; wait'
    const other = await startWithin('runner', script, ['npx', 'runner'])
    const [, ...pids] = await other.until('stderr', /pid (\d+) of (\d+) (\d+)/)
    const [dev, ...parents] = pids.map(Number) as [number, number, number]
    onTestFinished(() => void process.kill(dev, 'SIGKILL'))
    const npx = await throughNpx()
    for (const pid of [other.child.pid as number, ...parents]) process.kill(pid, 'SIGKILL')
    npx.kill('SIGKILL')
    // `dev` through npx has noticed the end of its parent, which ended later.
    await npx.ended
    expect((await fetch(other.url)).status).toBe(200)
  })
})
