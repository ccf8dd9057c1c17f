import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { Server } from 'node:net'
import { format } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { complaintsOf } from './compile-snippets.ts'
import { asModule, documentationSnippets, rootPath } from './snippet.ts'
import * as surroundings from './surroundings.ts'

const snippets = documentationSnippets()
// A folder that globs skip, so that neither compiler nor linter meets a half-written file.
const FOLDER = rootPath('test/docs/.snippets/')
const offered = new Set(Object.keys(surroundings))
const modules = snippets.map(({ at, code }, index) => ({
  at,
  path: `${FOLDER}${index}.ts`,
  source: asModule(code, '../surroundings.ts', offered),
}))

test('every page of the documentation has examples', () => {
  const pages = new Set(snippets.map(({ at }) => at.split(':')[0]))
  expect([...pages]).toEqual(
    expect.arrayContaining(['README.md', 'docs/getting-started.md', 'docs/webhooks.md', 'src/client.ts']),
  )
  expect(snippets.filter(({ compiledOnly }) => compiledOnly === undefined).length).toBeGreaterThan(30)
})

test('every example compiles under the strictest settings', { timeout: 60_000 }, () => {
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
    surroundings.service.reset()
    vi.stubEnv('CAMPAIGN_WEBHOOK_SECRET', surroundings.webhookSecret)
    vi.stubEnv('CAMPAIGN_BASE_URL', 'https://service.example/api/v1')
    vi.stubEnv('CAMPAIGN_ACCESS_TOKEN', 'a-token')
    const { fetch } = globalThis
    vi.stubGlobal('fetch', (input: RequestInfo | URL, init?: RequestInit) => {
      const { hostname } = new URL(input instanceof Request ? input.url : input)
      if (hostname === '127.0.0.1') return fetch(input, init)
      if (hostname === 'service.example') return surroundings.service.fetch(input, init)
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

  const runnable = snippets.flatMap((snippet, index) =>
    snippet.compiledOnly === undefined ? [{ ...snippet, path: modules[index]?.path }] : [],
  )
  test.each(runnable)('$at', async ({ path, prints }) => {
    const printed: string[] = []
    vi.spyOn(console, 'log').mockImplementation((...args) => void printed.push(format(...args)))
    await import(/* @vite-ignore */ path as string)
    expect(printed.filter((line) => prints.includes(line))).toEqual(prints)
  })
})
