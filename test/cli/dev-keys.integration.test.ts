import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CampaignClient } from 'campaign-client'
import { describe, expect, test } from 'vitest'
import { skipsWithout } from '../support/skips-without.ts'
import { hasTerminals, type ProcessOptions, scratchFolder, startAtTerminal, startProcess } from './command.ts'

/** Starts `dev` on a free port; `url` is the first line it prints. */
async function dev(args: readonly string[] = [], options?: ProcessOptions) {
  const running = await startProcess(['dev', '--port', '0', ...args], options)
  const [, url = ''] = await running.until('stdout', /^(http:\S+)\n/)
  await running.until('stderr', /Ctrl-C/)
  return { ...running, url }
}

describe.skipIf(skipsWithout('terminals', hasTerminals ? undefined : 'python3 with pty is not installed'))(
  'at a terminal',
  () => {
    /** A shell with job control sees each stop of its jobs. */
    const UNSTARVED = { CAMPAIGN_TEST_UNSTARVED: '1' }
    const HINT = /Press o to open the console, c to clear the terminal, q or Ctrl-C to stop/

    /** Starts `dev` at a terminal, with a browser that writes the URL to a file. */
    async function devAtTerminal(args: readonly string[] = [], within: readonly string[] = []) {
      const folder = scratchFolder()
      const opened = join(folder, 'opened')
      for (const name of ['xdg-open', 'open']) {
        writeFileSync(join(folder, name), `#!/bin/sh\nprintf '%s\\n' "$1" >> '${opened}'\n`, { mode: 0o755 })
      }
      const env = { ...UNSTARVED, PATH: `${folder}:${process.env.PATH}`, TERM: 'xterm', NO_COLOR: '1' }
      const running = await startAtTerminal(['dev', '--port', '0', ...args], { env, within })
      const [, url = ''] = await running.until('stdout', /(http:\S+)\r?\n/)
      await running.until('stdout', HINT)
      const press = (keys: string) => running.child.stdin?.write(keys)
      const openedUrls = () => (existsSync(opened) ? readFileSync(opened, 'utf8').trim().split('\n') : [])
      return { ...running, url, press, openedUrls }
    }

    test('o opens the console in the browser, and q ends with 0', async () => {
      const { press, url, openedUrls, ended } = await devAtTerminal()
      press('o')
      await expect.poll(openedUrls).toEqual([url])
      press('q')
      expect(await ended).toMatchObject({ code: 0 })
      expect(openedUrls()).toEqual([url])
    })

    test('--open opens the console once', async () => {
      const { press, url, openedUrls, ended } = await devAtTerminal(['--open'])
      await expect.poll(openedUrls).toEqual([url])
      press('q')
      await ended
      expect(openedUrls()).toEqual([url])
    })

    test('c clears the terminal and nothing else', async () => {
      const { press, url, until, ended } = await devAtTerminal()
      const client = new CampaignClient({ baseUrl: `${url}api/v1`, accessToken: 'any' })
      await client.getCampaignPoints({ pid: 'demo' })
      await until('stdout', /200 {2}getCampaignPoints/)
      press('c')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequence that clears a terminal
      await until('stdout', /\x1b\[2J/)
      const changes = await (await fetch(`${url}console/changes?since=`)).json()
      expect(changes).toMatchObject({ requests: { rows: [{ operation: 'getCampaignPoints' }] } })
      press('q')
      expect(await ended).toMatchObject({ code: 0 })
    })

    test('Ctrl-Z suspends, and the keys work again in the foreground', async () => {
      const { press, until, ended } = await devAtTerminal([], ['bash', '-mc', '"$@"; echo suspended; fg %1', 'bash'])
      press('\x1a')
      await until('stdout', /suspended/)
      press('q')
      expect(await ended).toMatchObject({ code: 0 })
    })

    test('in the background, keys are neither offered nor read', async () => {
      const script = '"$@" & read -r _; kill -INT $!; wait $!'
      const running = await startAtTerminal(['dev', '--port', '0'], {
        within: ['bash', '-mc', script, 'bash'],
        env: UNSTARVED,
      })
      const [, url = ''] = await running.until('stdout', /(http:\S+)\r?\n/)
      const [hint] = await running.until('stdout', /Press .*Ctrl-C to stop/)
      expect(hint).toBe('Press Ctrl-C to stop')
      expect((await fetch(url)).status).toBe(200)
      running.child.stdin?.write('q\n')
      expect(await running.ended).toMatchObject({ code: 0 })
    })

    test('Ctrl-C ends with 0, and other keys do nothing', async () => {
      const { press, openedUrls, ended } = await devAtTerminal()
      press('xyz \r\n\x1b[A\x03')
      expect(await ended).toMatchObject({ code: 0, signal: null })
      expect(openedUrls()).toEqual([])
    })
  },
)

test('without a terminal, keys are neither offered nor read', async () => {
  const { child, url, output, ended } = await dev([], { keepsInput: true })
  expect(output.stderr).toContain('Press Ctrl-C to stop')
  expect(output.stderr).not.toContain('q or')
  child.stdin?.end('q')
  expect((await fetch(url)).status).toBe(200)
  child.kill('SIGINT')
  expect(await ended).toMatchObject({ code: 0 })
})

test('--open says which program is missing, and the service runs', async () => {
  const { url, until } = await dev(['--open'], { env: { PATH: scratchFolder() } })
  await until('stderr', /could not be started: open http/)
  expect((await fetch(url)).status).toBe(200)
})
