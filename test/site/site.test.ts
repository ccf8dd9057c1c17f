import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { SearchEngine } from '../../scripts/site/search/engine.ts'
import type { SearchRecord } from '../../scripts/site/search/record.ts'
import { axeSource, launchBrowser, missingBrowser, type Page } from '../browser/browser.ts'
import { rootPath } from '../docs/snippet.ts'
import { FULL_SIZE } from '../machine/full-size.ts'
import { skipsWithout } from '../machine/skips-without.ts'
import { type BuiltSite, buildSite, deadLink } from './built-site.ts'
import { serveFolder } from './static-server.ts'

// A machine with a single busy core is slow at this, and slowness is not what is tested.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const DESKTOP = { width: 1400, height: 900 }
const PHONE = { width: 390, height: 844 }
/** Screenshots for human eyes. */
const SHOTS = rootPath('reports/site/')

/** One page of each kind. */
const KINDS = [
  'index.html',
  'documents/Webhooks.html',
  'documents/Benchmarks.html',
  'documents/Recipes.Webhooks_in_Nest.html',
  'documents/Methods.getUserProgress.html',
  'documents/Methods.OpenAPI.html',
  'documents/Examples.quickstart.ts.html',
  'classes/campaign-client.CampaignClient.html',
  'classes/campaign-client.RateLimitError.html',
  'functions/campaign-client.createWebhookReceiver.html',
  'interfaces/campaign-client.CampaignClientOptions.html',
  'types/campaign-client.WebhookEvent.html',
  'modules/campaign-client_webhook.html',
]

/** What partners ask, in their words, and the page that answers. */
const QUESTIONS: readonly (readonly [words: string, page: string])[] = [
  ['retry', 'documents/Retries_and_idempotency.html'],
  ['exactly once', 'documents/Webhooks.html'],
  ['duplicate', 'documents/Webhooks.html'],
  ['raw body', 'documents/Webhooks.html'],
  ['HMAC', 'documents/Webhooks.html'],
  ['idempotency', 'documents/Retries_and_idempotency.html'],
  ['429', 'documents/Retries_and_idempotency.html'],
  ['mock the service in tests', 'documents/Testing.html'],
  ['next.js webhook', 'documents/Recipes.Webhooks_in_Next.html'],
  ['token expired', 'documents/Tokens.html'],
  ['award many wallets', 'documents/Bulk_awards.html'],
  ['rotate secret', 'documents/Recipes.Replacing_a_webhook_secret.html'],
  ['what does outcome unknown mean', 'documents/Errors_and_outcomes.html'],
  ['prometheus', 'documents/Recipes.Metrics_with_prom-client.html'],
]

const NAMES: readonly (readonly [words: string, page: string])[] = [
  ['rewardWallet', 'documents/Methods.rewardWallet.html'],
  ['createWebhookReceiver', 'functions/campaign-client.createWebhookReceiver.html'],
  ['RateLimitError', 'classes/campaign-client.RateLimitError.html'],
  ['CampaignClient', 'classes/campaign-client.CampaignClient.html'],
]

let built: BuiltSite
beforeAll(async () => {
  built = await buildSite()
})
afterAll(() => built?.remove())

describe('the files of the site', () => {
  test('every link leads to a page and a place on it that exist', () => {
    const dead = [...built.pages].flatMap(([path, { links, loads }]) =>
      [...new Set([...links, ...loads])]
        .map((link) => deadLink(built, path, link))
        .filter((fault) => fault !== undefined),
    )
    expect(dead).toEqual([])
    expect(built.pages.size).toBeGreaterThan(100)
  })

  test('a link to nothing would be noticed', () => {
    expect(deadLink(built, 'documents/Webhooks.html', 'No_such_page.html')).toContain('documents/No_such_page.html')
    expect(deadLink(built, 'documents/Webhooks.html', '#no-such-place')).toContain('no-such-place')
    expect(deadLink(built, 'documents/Webhooks.html', '../index.html#no-such-place')).toContain('index.html')
  })

  test('the menu has every page', () => {
    const linked = new Set(built.pages.get('index.html')?.links.map((link) => posix.normalize(link)))
    expect([...built.pages.keys()].filter((path) => !linked.has(path))).toEqual([])
  })

  const htmlOf = (path: string): string => readFileSync(join(built.folder, path), 'utf8')

  test('the page of an error begins with what a caller reads, and has nothing of the platform that nobody calls', () => {
    const html = htmlOf('classes/campaign-client.RateLimitError.html')
    expect(html.indexOf('id="properties"')).toBeGreaterThan(0)
    expect(html.indexOf('id="constructors"')).toBeGreaterThan(html.indexOf('id="properties"'))
    expect(html).not.toMatch(/hasInstance|captureStackTrace|stackTraceLimit/)
  })

  test('a method has one heading for what it throws, with links to the errors', () => {
    const html = htmlOf('classes/campaign-client.CampaignClient.html')
    const [method = ''] = html.slice(html.indexOf('<h3 class="tsd-anchor-link" id="rewardwallet"')).split('</section>')
    expect(method.match(/>Throws</g)).toHaveLength(1)
    expect(method).toContain('<a href="campaign-client.UnauthorizedError.html"><code>UnauthorizedError</code></a>')
  })

  test('guides are read on by links to the page before and after', () => {
    expect(built.pages.get('documents/Tokens.html')?.links).toEqual(
      expect.arrayContaining(['Getting_started.html', 'Retries_and_idempotency.html']),
    )
    expect(htmlOf('documents/Tokens.html')).toMatch(/rel="prev"[\s\S]*rel="next"[\s\S]*docs\/tokens\.md/)
  })

  test('no program is shown as a bare file', () => {
    expect([...built.files].filter((path) => /\.[cm]?tsx?$/.test(path))).toEqual([])
  })

  test('nothing is loaded from elsewhere', () => {
    const foreign = [...built.pages].flatMap(([path, { loads }]) =>
      loads.filter((address) => /^(?:\w+:)?\/\//.test(address)).map((address) => `${path}: ${address}`),
    )
    expect(foreign).toEqual([])
  })

  test('no page weighs more than 150 kB with all that it loads', () => {
    const weightOf = (path: string): number => statSync(join(built.folder, path)).size
    const heavy = [...built.pages].flatMap(([path, { loads }]) => {
      const parts = [path, ...new Set(loads.map((address) => posix.join(posix.dirname(path), address)))]
      const weight = parts.reduce((sum, part) => sum + weightOf(part), 0)
      return weight > 150_000 ? [`${path}: ${weight}`] : []
    })
    expect(heavy).toEqual([])
  })

  describe('the search', () => {
    let engine: SearchEngine
    beforeAll(() => {
      const script = readFileSync(join(built.folder, 'assets/search-records.js'), 'utf8')
      engine = new SearchEngine(JSON.parse(script.replace(/^searchRecords=/, '')) as SearchRecord[])
    })
    const pagesFor = (words: string): string[] => engine.find(words).map(({ page }) => page.url)

    test.each(QUESTIONS)('answers “%s” with %s among the first three', (words, page) => {
      expect(pagesFor(words).slice(0, 3)).toContain(page)
    })

    test.each(NAMES)('goes to the page of the name %s first', (name, page) => {
      expect(pagesFor(name)[0]).toBe(page)
    })

    test('finds nothing where there is nothing', () => {
      expect(pagesFor('zyxwvut')).toEqual([])
    })
  })
})

describe.skipIf(skipsWithout('Chromium', missingBrowser))('the site in a browser', () => {
  let site: string
  let server: Awaited<ReturnType<typeof serveFolder>>
  let browser: Awaited<ReturnType<typeof launchBrowser>>

  beforeAll(async () => {
    mkdirSync(SHOTS, { recursive: true })
    server = await serveFolder(built.folder)
    site = server.url
    browser = await launchBrowser()
  })

  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  /** A page that remembers what went wrong on it. */
  async function open(viewport = DESKTOP, colorScheme: 'light' | 'dark' = 'light') {
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' })
    const page = await context.newPage()
    const faults: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') faults.push(`${page.url()}: ${message.text()}`)
    })
    page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`))
    page.on('request', (request) => {
      if (!request.url().startsWith(site) && !request.url().startsWith('data:')) faults.push(`asked ${request.url()}`)
    })
    return { page, faults }
  }

  const widthOf = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth')

  test.runIf(FULL_SIZE)('no page complains, asks the outside, or is wider than a phone', async () => {
    const { page, faults } = await open(PHONE)
    for (const path of built.pages.keys()) {
      await page.goto(site + path)
      const width = await widthOf(page)
      if (width !== PHONE.width) faults.push(`${path} is ${width} wide`)
    }
    expect(faults).toEqual([])
    await page.close()
  })

  test('a page that is not there would be noticed', async () => {
    const { page } = await open()
    await expect(page.goto(`${site}no-such-page.html`)).rejects.toThrow('ERR_HTTP_RESPONSE_CODE_FAILURE')
    await page.close()
  })

  test.each(['served', 'read from a disk'])(
    '%s, the search opens by its keys and goes where it is told',
    async (way) => {
      const { page } = await open()
      await page.goto(way === 'served' ? `${site}index.html` : pathToFileURL(join(built.folder, 'index.html')).href)
      await page.keyboard.press('Control+k')
      await page.locator('#search-input').fill('exactly once')
      await page.locator('#search-results a').first().waitFor()
      if (FULL_SIZE) await page.screenshot({ path: `${SHOTS}search.png` })
      await page.keyboard.press('Enter')
      await page.waitForURL(/documents\/Webhooks\.html/)
      await page.close()
    },
  )

  test('the code of an example can be copied', async () => {
    const { page } = await open()
    await page.goto(`${site}index.html`)
    await page.locator('.copy').first().click()
    await page.locator('.copy:text-matches("Copied|Selected")').waitFor()
    await page.close()
  })

  const background = (page: Page) => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')

  test('the theme follows the system until the reader chooses one, which the next page keeps', async () => {
    const { page, faults } = await open(DESKTOP, 'light')
    const { page: night } = await open(DESKTOP, 'dark')
    await page.goto(`${site}index.html`)
    await night.goto(`${site}index.html`)
    const light = await background(page)
    const dark = await background(night)
    expect(light).not.toBe(dark)

    await page.locator('#theme').click()
    expect(await background(page)).toBe(light)
    await page.locator('#theme').click()
    expect(await background(page)).toBe(dark)
    await page.goto(`${site}documents/Webhooks.html`)
    expect(await background(page)).toBe(dark)
    expect(faults).toEqual([])
    await page.close()
    await night.close()
  })

  describe('one page of each kind', () => {
    let phone: Awaited<ReturnType<typeof open>>
    let desktop: Awaited<ReturnType<typeof open>>

    beforeAll(async () => {
      phone = await open(PHONE, 'dark')
      desktop = await open(DESKTOP, 'light')
    })

    const violations = async (page: Page) => {
      await page.evaluate(axeSource())
      return page.evaluate<string[]>(
        "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap((rule) => rule.nodes.slice(0, 3).map((node) => rule.id + ': ' + node.html)))",
      )
    }
    const SHIFT = `new Promise((resolve) => {
      let sum = 0
      new PerformanceObserver((list) => { for (const { value } of list.getEntries()) sum += value })
        .observe({ type: 'layout-shift', buffered: true })
      requestAnimationFrame(() => setTimeout(() => resolve(sum)))
    })`

    test.each(KINDS)('%s fits a phone and a desktop, moves nothing, and can be read by all', async (path) => {
      for (const [{ page }, { width }] of [
        [phone, PHONE],
        [desktop, DESKTOP],
      ] as const) {
        await page.goto(`${site}${path}`)
        expect(await widthOf(page)).toBe(width)
        expect(await page.evaluate(SHIFT)).toBe(0)
        expect(await violations(page)).toEqual([])
        if (FULL_SIZE) {
          await page.screenshot({ path: `${SHOTS}${width}-${path.replaceAll('/', '-')}.png`, fullPage: true })
        }
      }
      const cutOff =
        "[...document.querySelectorAll('table')].filter((table) => table.scrollWidth > table.clientWidth).length"
      expect(await desktop.page.evaluate(cutOff)).toBe(0)

      await phone.page.locator('.menu-button').click()
      expect(await phone.page.locator('#site-menu a').first().isVisible()).toBe(true)
      expect([...phone.faults, ...desktop.faults]).toEqual([])
    })
  })
})
