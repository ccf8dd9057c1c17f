import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { format } from 'node:util'
import { signWebhook } from 'campaign-client/webhook'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { pathTo, read } from '../../scripts/repository.ts'
import { compileErrorsOf } from './compile.ts'
import { pages, sampleFilesOf } from './samples.ts'

// The compiler and the linter ignore this folder.
const FOLDER = pathTo('test/docs/.samples')
const files = pages.flatMap((page, index) =>
  sampleFilesOf(page).map((file, number) => ({
    ...file,
    path: join(FOLDER, `${index}`, file.name ?? `${number}.mjs`),
  })),
)

test('README, guides, recipes and method pages have samples', () => {
  const found = new Set(files.map(({ at }) => at.split(':')[0]))
  expect([...found]).toEqual(expect.arrayContaining(['README.md', 'docs/webhooks.md', 'docs/methods/rewardWallet.md']))
  expect(files.filter(({ compiledOnly }) => compiledOnly === undefined).length).toBeGreaterThan(30)
})

test('samples are at most 80 columns wide', () => {
  const tooWide = pages.flatMap((page) =>
    [
      ...read(page).matchAll(
        /^```(?:ts|js|sh|bash|powershell|json|yaml|python|php|ruby|go|java|csharp|rust)\b.*\n([\s\S]*?)^```$/gm,
      ),
    ].flatMap(([, code = '']) =>
      code.split('\n').flatMap((line) => (line.length > 80 && !line.startsWith('import ') ? [`${page}: ${line}`] : [])),
    ),
  )
  expect(tooWide).toEqual([])
})

/** The samples for other test runners, and the consumer projects that run them. */
const PROJECTS = {
  'docs/testing.md': ['jest-msw-3/campaign.test.mjs', 'jest-msw/jest.config.js'],
  'docs/recipes/test-runners.md': [
    'test-runners/local-service.mjs',
    'test-runners/vitest.test.mjs',
    'test-runners/node.test.mjs',
    'test-runners/conftest.py',
    'test-runners/test_award.py',
  ],
}

test.each(Object.entries(PROJECTS))('%s shows files of consumer projects', (page, shown) => {
  for (const file of shown) expect(read(page)).toContain(`\n${read(`test/consumers/${file}`)}\`\`\`\n`)
})

test('a page says which samples continue one another', () => {
  const silent = pages.filter(
    (page) => sampleFilesOf(page).some(({ count }) => count > 1) && !/samples?\b[^.]*\bcontinues?\b/.test(read(page)),
  )
  expect(silent).toEqual([])
})

test('samples compile as TypeScript, with the strictest settings', { timeout: 240_000 }, () => {
  // The project's own type check compiles the programs of `examples`.
  const others = files.filter(({ compiledOnly }) => !compiledOnly?.startsWith('it is examples/'))
  const modules = others.map((file) => ({
    ...file,
    source: `${file.source}\nexport {}\n`,
    path: file.path.replace(/\.mjs$/, '.mts'),
  }))
  expect(compileErrorsOf(modules)).toEqual([])
})

describe('samples run as JavaScript, pasted in order, print the documented output and accept signed messages only', () => {
  const servers = new Set<Server>()
  const started: Promise<unknown>[] = []
  const { listen } = Server.prototype
  let folder: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'samples-'))
    for (const { path, source } of files) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, source)
    }
  })

  beforeEach(() => {
    vi.spyOn(process, 'cwd').mockReturnValue(folder)
    vi.stubEnv('CAMPAIGN_WEBHOOK_SECRET', 'a-webhook-secret')
    const { fetch } = globalThis
    vi.stubGlobal('fetch', (input: string, init?: RequestInit) => {
      if (new URL(input).hostname !== '127.0.0.1') throw new Error(`a sample called ${input}`)
      return fetch(input, init)
    })
    // Samples listen on fixed ports, which may be in use. Let them listen on free ports.
    vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...args: unknown[]) {
      servers.add(this)
      started.push(once(this, 'listening'))
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

  afterAll(() => {
    rmSync(FOLDER, { recursive: true, force: true })
    rmSync(folder, { recursive: true, force: true })
  })

  /** The webhook endpoints that a sample starts or exports. */
  function endpointsOf(module: {
    POST?: (request: Request) => Promise<Response>
    default?: { fetch?: (request: Request) => Promise<Response> }
  }): ((init: RequestInit) => Promise<Response>)[] {
    const handlers = [module.POST, module.default?.fetch].filter((handler) => handler !== undefined)
    return [
      ...[...servers]
        .filter(({ listening }) => listening)
        .map((server) => (init: RequestInit) => {
          const { port } = server.address() as AddressInfo
          return fetch(`http://127.0.0.1:${port}/webhooks/campaign`, init)
        }),
      ...handlers.map(
        (handler) => (init: RequestInit) => handler(new Request('http://127.0.0.1/webhooks/campaign', init)),
      ),
    ]
  }

  test.each(files.filter(({ compiledOnly }) => compiledOnly === undefined))('$at', async ({ path, prints }) => {
    const printed: string[] = []
    vi.spyOn(console, 'log').mockImplementation((...args) => void printed.push(...format(...args).split('\n')))
    const module = await import(/* @vite-ignore */ path)
    await expect.poll(() => printed.filter((line) => prints.includes(line))).toEqual(prints)
    await Promise.all(started)
    for (const post of endpointsOf(module)) {
      // Decoding the text would remove the byte order mark. Bytes have no Content-Type.
      const body = new TextEncoder().encode(`\uFEFF${JSON.stringify({ id: 'message-1' })}`)
      const send = async (signature: string): Promise<number> =>
        (await post({ method: 'POST', body, headers: { 'x-service-signature': signature } })).status
      expect([await send('forged'), await send(signWebhook('a-webhook-secret', body))]).toEqual([401, 200])
    }
  })
})
