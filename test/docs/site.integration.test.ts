import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { MOVED } from '../../docs/.vitepress/moved.ts'
import { GUIDES } from '../../docs/.vitepress/option-guides.ts'
import { SHAPES } from '../../docs/.vitepress/reference.ts'
import { searchOptions } from '../../docs/.vitepress/search.ts'
import { entryPoints } from '../../scripts/entry-points.ts'
import { pathTo } from '../../scripts/repository.ts'
import { axeSource, launchBrowser, missingBrowser } from '../browser/browser.ts'
import { skipsWithout } from '../support/skips-without.ts'

const SITE = pathTo('docs/site')
const missingSite = existsSync(join(SITE, 'index.html')) ? undefined : 'npm run docs has not been run'
const files = missingSite === undefined ? readdirSync(SITE, { recursive: true, encoding: 'utf8' }) : []

/** Search terms and the expected page. */
const QUESTIONS: Readonly<Record<string, string>> = {
  retry: 'retries-and-idempotency',
  '401': 'tokens',
  'raw body express': 'webhook-frameworks',
  'duplicate event': 'webhooks',
  'rotate secret': 'recipes/secret-rotation',
  'rate limit': 'retries-and-idempotency',
  'test without account': 'testing',
  csv: 'command/award',
  timeout: 'error-codes',
  proxy: 'recipes/client-certificates-and-proxies',
  jest: 'testing',
  'next.js': 'recipes/next',
  idempotency: 'retries-and-idempotency',
  'invite code': 'methods/getInviteCode',
  'how do I award xp': 'bulk-awards',
  leaderboard: 'recipes/leaderboard-mirror',
  season: 'methods/getCampaignPoints',
  'types of campaign': 'command',
  cancel: 'client-options',
  logging: 'recipes/logs',
  response: 'error-codes',
  cli: 'command',
  'base url': 'getting-started',
  'api key': 'tokens',
  '429': 'retries-and-idempotency',
  batch: 'bulk-awards',
  cloudflare: 'webhook-frameworks',
  tunnel: 'webhooks-on-your-machine',
  ngrok: 'webhooks-on-your-machine',
  localhost: 'webhooks-on-your-machine',
  docker: 'webhooks-on-your-machine',
  upgrade: 'upgrading',
  mock: 'testing',
  troubleshooting: 'troubleshooting',
  'production checklist': 'before-production',
  sqlite: 'webhook-stores',
  python: 'webhooks-in-other-languages',
  php: 'webhooks-in-other-languages',
  go: 'webhooks-in-other-languages',
  ruby: 'webhooks-in-other-languages',
  java: 'webhooks-in-other-languages',
  'c#': 'webhooks-in-other-languages',
  rust: 'webhooks-in-other-languages',
  'verify by hand': 'webhooks-in-other-languages',
  'python client': 'calls-in-other-languages',
  'test in go': 'local-service',
  nextjs: 'recipes/next',
  deduplication: 'webhook-stores',
  'two servers': 'webhook-stores',
  axios: 'from-fetch',
  cors: 'troubleshooting',
  undelivered: 'missed-events',
  openapi: 'methods',
  'timeout after award': 'errors-and-outcomes',
  'typescript event types': 'webhook-events',
  'google sheets': 'award-day',
  'graceful shutdown': 'shutdown',
  'unknown user': 'troubleshooting',
  'user not found': 'troubleshooting',
  purchase: 'bulk-awards',
  refund: 'undo-an-award',
  undo: 'undo-an-award',
  'negative xp': 'undo-an-award',
  mysql: 'webhook-stores',
  windows: 'command',
  powershell: 'command',
  pytest: 'recipes/test-runners',
  playwright: 'recipes/test-runners',
  vitest: 'recipes/test-runners',
  'refresh token': 'tokens',
  'how do I get a base URL': 'getting-started',
  'self signed certificate': 'recipes/client-certificates-and-proxies',
  'read many users': 'missed-events',
  migrate: 'from-fetch',
  'nightly mirror': 'recipes/nightly-mirror',
  CampaignClient: 'reference/campaign-client',
  createCampaignService: 'reference/campaign-client/testing',
  TimeoutError: 'reference/campaign-client',
  verifyWebhook: 'reference/campaign-client/webhook/verifyWebhook',
}

/** The titles of the guides, which come first. */
const TITLES =
  missingSite === undefined
    ? [...readFileSync(join(SITE, 'llms.txt'), 'utf8').matchAll(/^- \[(.+?)\]\(\/(?!examples|reference)/gm)].map(
        ([, title = '']) => title,
      )
    : []

describe.skipIf(skipsWithout('built site', missingSite))('the built site', () => {
  test('each guide has at most 200 kB, each page of the reference 400 kB, and the site 20 MB', () => {
    const sizes = files.map((file) => [file, statSync(join(SITE, file)).size] as const)
    const limit = (file: string): number => (file.startsWith('reference') ? 400_000 : 200_000)
    expect(sizes.filter(([file, size]) => file.endsWith('.html') && size > limit(file))).toEqual([])
    expect(sizes.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(20_000_000)
  })

  describe('the reference', () => {
    const pages = files.filter((file) => /^reference\/.*\.md$/.test(file))
    const text = pages.map((file) => readFileSync(join(SITE, file), 'utf8')).join('\n')

    test('has an index, one page for each entry point, and one for each export of /webhook', () => {
      const names = entryPoints.map(({ name }) => `reference/campaign-client${name.slice('.'.length)}.md`)
      const exports = [
        ...readFileSync(join(SITE, 'reference/campaign-client/webhook.md'), 'utf8').matchAll(/^- \[(\w+)\]/gm),
      ]
      expect(exports.length).toBeGreaterThan(40)
      const ownPages = exports.map(([, name]) => `reference/campaign-client/webhook/${name}.md`)
      expect(pages.toSorted()).toEqual([...names, ...ownPages, 'reference/index.md'].toSorted())
    })

    test.each(entryPoints)('has the functions of $name first', ({ name }) => {
      const page = readFileSync(join(SITE, `reference/campaign-client${name.slice('.'.length)}.md`), 'utf8')
      const groups = [...page.matchAll(/^## (.+)$/gm)].map(([, group]) => group)
      expect(groups.length).toBeGreaterThan(0)
      expect(groups.indexOf('Functions')).toBeLessThanOrEqual(0)
    })

    test('does not repeat what the base class says', () => {
      expect(text.match(/hasInstance|^#+ (?:Overrides|Inherited from|References)$|Re-exports/m)).toBeNull()
    })

    test('has the shapes of other libraries at the end of their pages', () => {
      const ends = pages.map(
        (file) => readFileSync(join(SITE, file), 'utf8').split('\n## Shapes of other libraries\n')[1],
      )
      const found = ends.flatMap((end) => [...(end ?? '').matchAll(/^(?:### |- \[)(\w+)/gm)].map(([, name]) => name))
      expect(found.toSorted()).toEqual([...SHAPES].toSorted())
    })

    test('spells out the values of code', () => {
      const codes = [...text.matchAll(/\*\*code\*\*: (.+)$/gm)].map(([, type]) => type)
      expect(codes.length).toBeGreaterThan(15)
      expect(codes.filter((type) => /^\[`\w+Code`\]/.test(type ?? ''))).toEqual([])
      expect(codes).toContain('`"timeout"`')
    })

    test.each(Object.keys(GUIDES))('links the guide of each option of %s', (name) => {
      // The heading of a page, or of a section.
      const page = new RegExp(`^# ${name}\\n[\\s\\S]*?(?=^# )`, 'm')
        .exec(`${text}\n# end`)?.[0]
        .replaceAll(/^#/gm, '###')
      const section = page ?? new RegExp(`^### ${name}\\n[\\s\\S]*?(?=^#{1,3} )`, 'm').exec(`${text}\n# end`)?.[0] ?? ''
      const options = section.includes('#### Properties') ? section.split(/^(?=##### )/m).slice(1) : [section]
      expect(options.filter((option) => !option.includes('\nGuide: ['))).toEqual([])
    })
  })

  test('has the OpenAPI document, llms.txt and the Markdown of each guide', () => {
    expect(files).toEqual(
      expect.arrayContaining(['openapi.json', 'llms.txt', 'llms-full.txt', 'webhooks.md', 'methods/rewardWallet.md']),
    )
  })

  test('each link of llms.txt and of a Markdown page leads to a page of the site, or to another site', () => {
    const dead = files
      .filter((file) => /\.(?:md|txt)$/.test(file))
      .flatMap((file) => {
        const text = readFileSync(join(SITE, file), 'utf8').replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
        const links = [...text.matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)].map(([, link = '']) => link)
        return links.filter((link) => !existsSync(join(SITE, link))).map((link) => `${file}: ${link}`)
      })
    expect(dead).toEqual([])
  })

  test('each guide has its own description, and a link to the previous or the next page', () => {
    const pages = files.filter(
      (file) =>
        /^(?!404|index)(?:(?:methods|recipes|command)\/)?[\w-]+\.html$/.test(file) &&
        !Object.hasOwn(MOVED, file.slice(0, -'.html'.length)),
    )
    const found = pages.map((file) => {
      const html = readFileSync(join(SITE, file), 'utf8')
      const [, description = ''] = /<meta name="description" content="([^"]+)"/.exec(html) ?? []
      return { file, description, hasPager: /pager-link (?:prev|next)/.test(html) }
    })
    expect(found.length).toBeGreaterThan(50)
    expect(found.filter(({ description, hasPager }) => description.length < 30 || !hasPager)).toEqual([])
    expect(new Set(found.map(({ description }) => description)).size).toBe(found.length)
  })

  test('every link leads to a page and an anchor', () => {
    const pages = new Map(
      files.filter((file) => file.endsWith('.html')).map((file) => [file, readFileSync(join(SITE, file), 'utf8')]),
    )
    const anchors = new Map(
      [...pages].map(([file, html]) => [file, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
    )
    const broken: string[] = []
    for (const [file, html] of pages) {
      for (const [, href = ''] of html.matchAll(/<a [^>]*href="((?!\w+:)[^"]+)"/g)) {
        const { pathname, hash } = new URL(href, `http://site/${file}`)
        const page = pathname.endsWith('/') ? `${pathname}index.html` : pathname.replace(/(?:\.html)?$/, '.html')
        const found = anchors.get(page.slice(1))
        const isFile = found === undefined && existsSync(join(SITE, pathname))
        if (!isFile && !(hash === '' ? found : found?.has(decodeURIComponent(hash.slice(1)))))
          broken.push(`${file}: ${href}`)
      }
    }
    expect([...new Set(broken)]).toEqual([])
  })

  test('the copy button of a sample that shows part of a program copies the whole file', () => {
    const programs = files
      .filter((file) => file.endsWith('.html'))
      .flatMap((file) => [
        ...readFileSync(join(SITE, file), 'utf8').matchAll(
          /<div class="program">[\s\S]*?<code[^>]*>([\s\S]*?)<\/code>[\s\S]*?<summary>Show the whole file, ([^<]+)</g,
        ),
      ])
    expect(programs.length).toBeGreaterThan(12)
    const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" }
    for (const [, code = '', file = ''] of programs) {
      const text = code.replaceAll(/<[^>]+>/g, '').replaceAll(/&(#?[\w]+);/g, (entity, name: string) => {
        const hex = /^#x(\w+)$/i.exec(name)?.[1]
        return hex === undefined ? (entities[name] ?? entity) : String.fromCodePoint(Number.parseInt(hex, 16))
      })
      expect(text.trim(), file).toBe(readFileSync(pathTo(file), 'utf8').trim())
    }
  })

  test('each page is in the menu once', () => {
    const links = [
      ...readFileSync(join(SITE, 'llms.txt'), 'utf8').matchAll(/\]\((\/(?!examples|reference)[^)]+)\)/g),
    ].map(([, link]) => link)
    const pages = files.filter((file) => /^(?!404|index|llms)(?:(?:methods|recipes|command)\/)?[\w-]+\.md$/.test(file))
    expect([...links].sort()).toEqual(pages.map((page) => `/${page}`).sort())
  })

  describe('the search', () => {
    let search: (words: string) => { id: string }[]

    beforeAll(async () => {
      const [index = ''] = files.filter((file) => file.includes('@localSearchIndex'))
      const MiniSearch = createRequire(import.meta.resolve('vitepress'))('minisearch')
      const { default: json } = await import(/* @vite-ignore */ pathToFileURL(join(SITE, index)).href)
      const fields = ['title', 'titles', 'text']
      const engine = MiniSearch.loadJSON(json, { fields, storeFields: ['title', 'titles'], searchOptions })
      search = (words) => engine.search(words)
    })

    test.each(Object.entries(QUESTIONS))('for “%s”, finds the page %s in the first three results', (words, page) => {
      const found = search(words).slice(0, 3)
      expect(found.map(({ id }) => id.replace(/(?:\.html)?(?:#.*)?$/, ''))).toContain(`/${page}`)
    })

    test.each(TITLES)('for the title “%s”, its page is the first result', (title) => {
      expect(search(title)[0]).toMatchObject({ title, titles: [] })
    })
  })
})

/** One page of each kind. */
const KINDS = [
  '',
  'troubleshooting',
  'webhooks',
  'check',
  'CHANGELOG',
  'methods/rewardWallet',
  'examples/quickstart',
  'reference/',
  'reference/campaign-client/testing/msw',
  'reference/campaign-client/webhook/postgres',
  'reference/campaign-client/webhook/WebhookReceiverOptions',
  'webhook-receiver',
  'webhooks-in-other-languages',
  'benchmarks',
]
const WINDOWS = [
  { viewport: { width: 1400, height: 900 }, colorScheme: 'light' },
  { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
] as const

/**
 * A browser expression that finds pages, samples and words that are too wide, entries that "On this page" shows twice, and a
 * menu with more than 30 unfolded links.
 */
const FAULTS = `(() => {
  const faults = document.documentElement.scrollWidth > innerWidth + 1 ? ['the page scrolls sideways'] : []
  for (const code of document.querySelectorAll('.VPSidebar .text, .vp-doc :not(pre) > code, .vp-doc h1, .vp-doc h2, .vp-doc h3, .vp-doc td a')) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
    for (let text; (text = texts.nextNode()); ) {
      for (const word of text.data.matchAll(/campaign-client[\\w/]*|[\\w$]+/g)) {
        const range = document.createRange()
        range.setStart(text, word.index)
        range.setEnd(text, word.index + word[0].length)
        const lines = new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top)))
        if (lines.size > 1) faults.push('broken: ' + word[0])
      }
    }
  }
  for (const sample of document.querySelectorAll('.vp-doc [class*=language-]')) {
    const { left, right, width } = sample.getBoundingClientRect()
    const box = sample.closest('.custom-block, .beside > div')?.getBoundingClientRect() ?? { left: 0, right: innerWidth }
    const pre = sample.querySelector('pre')
    const wraps = pre !== null && getComputedStyle(pre.querySelector('code')).whiteSpace !== 'pre'
    const isTooWide = width > 0 && (left < box.left - 25 || right > box.right + 25 || left < -1 || right > innerWidth + 1)
    if (isTooWide || wraps) faults.push((wraps ? 'wraps: ' : 'too wide: ') + sample.textContent.slice(0, 60))
  }
  const entries = [...document.querySelectorAll('.VPDocAsideOutline .outline-link')].map((link) => link.getAttribute('href'))
  for (const entry of new Set(entries)) if (entries.indexOf(entry) !== entries.lastIndexOf(entry)) faults.push('twice: ' + entry)
  const links = [...document.querySelectorAll('.VPSidebar a.link')].filter((link) => link.getClientRects().length > 0)
  if (links.length > 30) faults.push('links in the menu: ' + links.length)
  return faults
})()`

describe.skipIf(skipsWithout('built site and browser', missingSite ?? missingBrowser))('the site in a browser', () => {
  test.each(WINDOWS)('has no accessibility violations, and no line breaks in names: $colorScheme', async (window) => {
    const server = createServer((request, response) => {
      const path = new URL(request.url ?? '', 'http://site').pathname
      const file = join(SITE, path.endsWith('/') ? `${path}index.html` : /\.\w+$/.test(path) ? path : `${path}.html`)
      const type = { css: 'text/css', html: 'text/html', js: 'text/javascript' }[file.split('.').at(-1) ?? '']
      if (!existsSync(file)) return response.writeHead(404).end()
      response.writeHead(200, { 'content-type': type ?? 'application/octet-stream' }).end(readFileSync(file))
    }).listen(0, '127.0.0.1')
    const browser = await launchBrowser()
    try {
      const page = await (await browser.newContext({ ...window, reducedMotion: 'reduce' })).newPage()
      for (const kind of KINDS) {
        const { port } = server.address() as AddressInfo
        await page.goto(`http://127.0.0.1:${port}/${kind}`)
        await page.evaluate(axeSource())
        const violations = await page.evaluate(
          'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes[0].html))',
        )
        expect([violations, await page.evaluate(FAULTS)], kind).toEqual([[], []])
      }
    } finally {
      await browser.close()
      server.close()
    }
  })
})
