import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { Server } from 'node:net'
import { format } from 'node:util'
import { createCampaignService } from 'campaign-client/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { complaintsOf } from './compile-snippets.ts'
import { documentationSnippets, rootPath } from './snippet.ts'

const snippets = documentationSnippets()
// A folder that globs skip, so that neither compiler nor linter meets a half-written file.
const FOLDER = rootPath('test/docs/.snippets/')
const modules = snippets.map((snippet, index) => ({ ...snippet, path: `${FOLDER}${index}.ts` }))

test('the README, the guides, the methods and the comments have examples', () => {
  const pages = new Set(snippets.map(({ at }) => at.split(':')[0]))
  expect([...pages]).toEqual(
    expect.arrayContaining([
      'README.md',
      'docs/getting-started.md',
      'docs/webhooks.md',
      'docs/methods/rewardWallet.md',
      'src/client.ts',
    ]),
  )
  expect(snippets.filter(({ compiledOnly }) => compiledOnly === undefined).length).toBeGreaterThan(30)
})

test('every example compiles as it can be pasted, under the strictest settings', { timeout: 60_000 }, () => {
  expect(complaintsOf(modules)).toEqual([])
})

describe('every example runs, and prints what it says', () => {
  const servers = new Set<Server>()
  const listen = Server.prototype.listen

  beforeAll(() => {
    mkdirSync(FOLDER, { recursive: true })
    for (const { path, source } of modules) writeFileSync(path, source)
  })

  beforeEach(() => {
    const service = createCampaignService({ seed: 'documentation' })
    vi.stubEnv('CAMPAIGN_WEBHOOK_SECRET', 'a-webhook-secret')
    vi.stubEnv('CAMPAIGN_BASE_URL', 'https://service.example/api/v1')
    vi.stubEnv('CAMPAIGN_ACCESS_TOKEN', 'a-token')
    const { fetch } = globalThis
    vi.stubGlobal('fetch', (input: RequestInfo | URL, init?: RequestInit) => {
      const { hostname } = new URL(input instanceof Request ? input.url : input)
      if (hostname === '127.0.0.1') return fetch(input, init)
      if (hostname === 'service.example') return service.fetch(input, init)
      throw new Error(`an example asked for ${hostname}`)
    })
    // Examples listen on the port a reader would choose, which need not be free here.
    vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...args: unknown[]) {
      servers.add(this)
      if (typeof args[0] === 'number') args.splice(0, typeof args[1] === 'string' ? 2 : 1, 0, '127.0.0.1')
      return Reflect.apply(listen, this, args)
    })
  })

  afterEach(async () => {
    for (const server of servers) await new Promise((resolve) => server.close(resolve))
    servers.clear()
    vi.unstubAllEnvs()
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })

  afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

  test.each(modules.filter(({ compiledOnly }) => compiledOnly === undefined))('$at', async ({ path, prints }) => {
    const printed: string[] = []
    vi.spyOn(console, 'log').mockImplementation((...args) => void printed.push(format(...args)))
    await import(/* @vite-ignore */ path)
    expect(printed.filter((line) => prints.includes(line))).toEqual(prints)
  })
})
