import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { rootPath } from '../docs/snippet.ts'
import { skipsWithout } from '../machine/skips-without.ts'
import { launchBrowser, missingBrowser, type Page } from './browser.ts'
import { serveFolder } from './static-server.ts'

// A machine with a single busy core is slow at this, and slowness is not what is tested.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }
/** Screenshots for human eyes. */
const SHOTS = rootPath('reports/site/')

describe.skipIf(skipsWithout('Chromium', missingBrowser))('the site in a browser', () => {
  let folder: string
  let site: string
  let server: Awaited<ReturnType<typeof serveFolder>>
  let browser: Awaited<ReturnType<typeof launchBrowser>>

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'campaign-client-site-'))
    mkdirSync(SHOTS, { recursive: true })
    await promisify(execFile)(rootPath('node_modules/.bin/typedoc'), ['--out', folder], { cwd: rootPath('.') })
    server = await serveFolder(folder)
    site = server.url
    browser = await launchBrowser()
  })

  afterAll(async () => {
    await browser?.close()
    await server?.close()
    if (folder) rmSync(folder, { recursive: true, force: true })
  })

  /** A page that remembers what went wrong on it. */
  async function open(viewport = DESKTOP, colorScheme: 'light' | 'dark' = 'light') {
    const context = await browser.newContext({ viewport, colorScheme })
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

  test('every internal link leads somewhere, and no page complains or asks the outside', async () => {
    const { page, faults } = await open()
    const anchors = new Map<string, Set<string>>()
    const wanted = new Map<string, string>()
    const queue = [`${site}index.html`]
    const seen = new Set(queue)
    for (let url = queue.shift(); url !== undefined; url = queue.shift()) {
      await page.goto(url)
      // The navigation is filled in by a script.
      await page.locator('#tsd-nav-container > li').first().waitFor()
      anchors.set(
        url,
        new Set(await page.evaluate<string[]>("[...document.querySelectorAll('[id]')].map((e) => e.id)")),
      )
      const links = await page.evaluate<string[]>("[...document.querySelectorAll('a[href]')].map((link) => link.href)")
      for (const link of links.filter((target) => target.startsWith(site))) {
        const [target = '', anchor] = link.split('#')
        if (anchor) wanted.set(link, url)
        if (seen.has(target)) continue
        seen.add(target)
        if (target.endsWith('.html')) queue.push(target)
        else
          expect(
            existsSync(join(folder, decodeURIComponent(target.slice(site.length)))),
            `${url} links to ${target}`,
          ).toBe(true)
      }
    }
    const dead = [...wanted].filter(([link]) => {
      const [target = '', anchor = ''] = link.split('#')
      return anchors.has(target) && !anchors.get(target)?.has(decodeURIComponent(anchor))
    })
    expect(dead).toEqual([])
    expect(faults).toEqual([])
    expect(anchors.size).toBeGreaterThan(100)
    await page.close()
  })

  test('a page that is not there would be noticed', async () => {
    const { page } = await open()
    await expect(page.goto(`${site}no-such-page.html`)).rejects.toThrow('ERR_HTTP_RESPONSE_CODE_FAILURE')
    await page.close()
  })

  test('read from the disk, without a server, it searches as well', async () => {
    const { page } = await open()
    await page.goto(pathToFileURL(join(folder, 'index.html')).href)
    await page.locator('#tsd-search-trigger').click()
    await page.locator('#tsd-search-input').fill('recordActionValue')
    const result = page.locator('#tsd-search-results li a').first()
    await result.waitFor()
    expect(await result.textContent()).toContain('recordActionValue')
    await page.close()
  })

  test.each([
    ['rewardWallet', /rewardWallet/i],
    ['outcome', /outcome/i],
    ['createWebhookReceiver', /createWebhookReceiver/],
  ])('the search finds %s', async (words, expected) => {
    const { page, faults } = await open()
    await page.goto(`${site}index.html`)
    await page.locator('#tsd-search-trigger').click()
    await page.locator('#tsd-search-input').fill(words)
    const result = page.locator('#tsd-search-results li a').first()
    await result.waitFor()
    expect(await result.textContent()).toMatch(expected)
    await page.screenshot({ path: `${SHOTS}search-${words}.png` })
    await result.click()
    await page.waitForURL(/\/(classes|functions|documents|types|interfaces)\//)
    expect(await page.evaluate<string>('document.querySelector(".col-content").innerText')).toMatch(expected)
    expect(faults).toEqual([])
    await page.close()
  })

  const background = (page: Page) => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')

  test('the theme follows the system until the reader chooses one, which the next page keeps', async () => {
    const { page, faults } = await open(DESKTOP, 'light')
    const { page: night } = await open(DESKTOP, 'dark')
    await page.goto(`${site}index.html`)
    await night.goto(`${site}index.html`)
    const light = await background(page)
    const dark = await background(night)
    expect(light).not.toBe(dark)

    await page.locator('.tsd-theme-toggle summary, .settings summary, summary:has-text("Settings")').first().click()
    await page.locator('#tsd-theme').selectOption('dark')
    expect(await background(page)).toBe(dark)
    await page.goto(`${site}documents/Webhooks.html`)
    expect(await background(page)).toBe(dark)
    expect(faults).toEqual([])
    await page.close()
    await night.close()
  })

  test.each([
    'index.html',
    'documents/Webhooks.html',
    'documents/Errors_and_outcomes.html',
    'documents/Methods.getUserProgress.html',
    'documents/Design.html',
    'classes/campaign-client.CampaignClient.html',
  ])('%s fits a phone, its menu opens, and a desktop shows its tables whole', async (path) => {
    const { page, faults } = await open(PHONE)
    await page.goto(`${site}${path}`)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width)
    await page.screenshot({ path: `${SHOTS}phone-${path.replaceAll('/', '-')}.png` })
    await page.locator('#tsd-toolbar-menu-trigger').click()
    expect(await page.locator('#tsd-nav-container > li').first().isVisible()).toBe(true)
    await page.close()

    for (const scheme of ['light', 'dark'] as const) {
      const { page: wide } = await open(DESKTOP, scheme)
      await wide.goto(`${site}${path}`)
      const cutOff =
        "[...document.querySelectorAll('table')].filter((table) => table.scrollWidth > table.clientWidth).length"
      expect(await wide.evaluate(cutOff)).toBe(0)
      await wide.screenshot({ path: `${SHOTS}${scheme}-${path.replaceAll('/', '-')}.png`, fullPage: true })
      await wide.close()
    }
    expect(faults).toEqual([])
  })
})
