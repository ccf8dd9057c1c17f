import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { CampaignClient } from 'campaign-client'
import { verifyWebhook } from 'campaign-client/webhook'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { axeSource, launchBrowser, missingBrowser, type Page } from '../browser/browser.ts'
import { type Running, scratchFolder, start } from '../cli/command.ts'
import { skipsWithout } from '../machine/skips-without.ts'

// A machine with a single busy core is slow at this, and slowness is not what is tested.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const SECRET = 'a secret of the webhook'
const DESKTOP = { width: 1400, height: 900 }
const PHONE = { width: 390, height: 844 }
const PLACES = ['/', '/users', '/users/demo/discord/ada', '/campaigns/demo', '/requests', '/requests/1', '/webhooks']
const MORE_PLACES = ['/webhooks/new', '/faults', '/clock', '/start', '/nowhere/at/all']
const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7'

describe.skipIf(skipsWithout('Chromium', missingBrowser))('the console in a browser', () => {
  let browser: Awaited<ReturnType<typeof launchBrowser>>
  const endpoint = { status: 200, arrived: [] as { body: string; signature: string }[] }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    endpoint.arrived.push({ body, signature: String(request.headers['x-service-signature']) })
    response.writeHead(endpoint.status).end(endpoint.status === 200 ? 'thanks' : '<b>down</b>')
  })
  let hook: string
  const faults: string[] = []
  const pages: Page[] = []

  beforeAll(async () => {
    browser = await launchBrowser()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    hook = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  })

  afterAll(async () => {
    await browser?.close()
    server.close().closeAllConnections()
  })

  // No test may leave an error on a console, or ask anything but the service.
  afterEach(async () => {
    await Promise.all(pages.splice(0).map((page) => page.close()))
    endpoint.status = 200
    endpoint.arrived.length = 0
    expect(faults.splice(0)).toEqual([])
  })

  async function dev(args: readonly string[] = ['--webhook', hook]) {
    const running: Running = await start(['dev', '--port', '0', '--quiet', ...args], {
      env: { CAMPAIGN_WEBHOOK_SECRET: SECRET },
    })
    const [, url = ''] = await running.until('stdout', /^(http:\S+)\/\n/)
    const client = new CampaignClient({ baseUrl: `${url}/api/v1`, accessToken: 'any', maxRetries: 0 })
    return { url, client }
  }

  async function open(url: string, viewport = DESKTOP, colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
    const page = await (await browser.newContext({ viewport, colorScheme })).newPage()
    pages.push(page)
    const { origin } = new URL(url)
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
    })
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== origin) faults.push(`asked ${request.url()}`)
    })
    await page.goto(url)
    await page.locator('.live.on').waitFor()
    return page
  }

  const heading = (page: Page, name: string) => page.getByRole('heading', { name })

  test('a first visit shows the parts of the console, and what to paste until the first call arrives', async () => {
    const { url, client } = await dev()
    const page = await open(url)
    for (const name of ['Users', 'Requests', 'Webhooks', 'Faults', 'Clock']) {
      expect([name, await heading(page, name).count()]).toEqual([name, 1])
    }
    const paste = await page.locator('.start pre').innerText()
    expect(paste.split('\n')).toHaveLength(3)
    expect(paste).toContain(`baseUrl: '${url}/api/v1'`)
    await client.getCampaignInfo({ pid: 'demo' })
    await page.locator('.start').waitFor({ state: 'hidden' })
    await page.getByRole('link', { name: /getCampaignInfo/ }).click()
    await page.waitForURL(/\/requests\/1$/)
    await page.goBack()
    await heading(page, 'Users').waitFor()
  })

  test('the Test tool sends the message it shows, and tells the answer', async () => {
    const { url } = await dev()
    const page = await open(url)
    const form = page.getByRole('form', { name: 'Test webhook' })
    await form.getByRole('textbox', { name: 'User ID' }).fill('ada')
    await form.getByRole('button', { name: 'Test' }).click()
    expect(await form.getByLabel('Success').innerText()).toBe('true')
    expect(await form.getByLabel('Status').innerText()).toBe('200')
    expect(await form.getByLabel('Data').innerText()).toBe('thanks')
    const payload = await form.getByLabel('Payload').innerText()
    const [message] = endpoint.arrived as [{ body: string; signature: string }]
    expect(payload).toBe(message.body)
    expect(verifyWebhook(SECRET, message.body, message.signature)).toBe(true)
    await form.getByRole('textbox', { name: 'User ID' }).fill('nobody')
    await form.getByRole('button', { name: 'Test' }).click()
    await form.getByRole('alert').getByText('There is no user "nobody"').waitFor()
  })

  test('a task is completed by a button, the delivery fails, is retried by the clock, and sent again', async () => {
    endpoint.status = 503
    const { url } = await dev()
    const page = await open(`${url}/users/demo/discord/linus`)
    await page.getByRole('button', { name: 'Complete connect-wallet' }).click()
    await page.locator('.pane .check.done').first().waitFor()
    await page.getByRole('link', { name: 'Webhooks' }).first().click()
    await page.getByRole('link', { name: /action_completed/ }).click()
    await page.waitForURL(/\/deliveries\//)
    await page.getByText('<b>down</b>').waitFor()
    for (const retry of ['1st', '2nd', '3rd', '4th']) {
      await page.goto(`${url}/clock`)
      await page.getByRole('button', { name: 'To the next retry' }).click()
      await page.getByText('The retry is on its way.').waitFor()
      expect([retry, endpoint.arrived.length]).toEqual([retry, ['1st', '2nd', '3rd', '4th'].indexOf(retry) + 2])
    }
    await page.goto(`${url}/webhooks`)
    await page.getByRole('link', { name: /undelivered/ }).click()
    endpoint.status = 200
    await page.getByRole('button', { name: 'Redeliver' }).click()
    await page.getByRole('button', { name: 'Same ID again' }).click()
    await page.getByText('on its way again').waitFor()
    await expect.poll(() => endpoint.arrived).toHaveLength(7)
    expect(new Set(endpoint.arrived.map(({ body }) => body)).size).toBe(1)
  })

  test('a request is shown with the reason of its refusal, found by a filter, and copied as curl', async () => {
    const { url, client } = await dev()
    const award = { address: WALLET, pid: 'demo', id: "it's", xp: 1 }
    await client.rewardWallet(award)
    await client.rewardWallet(award).catch(() => {})
    const page = await open(`${url}/requests`)
    await page.getByRole('searchbox', { name: 'Filter by operation' }).fill('has been used')
    await page.waitForURL(/find=has/)
    await page.getByRole('link', { name: /rewardWallet/ }).click()
    await page.getByText('Refused: the reward id "it\'s" has been used before').waitFor()
    await page.locator('summary').getByText('As curl').click()
    const curl = await page.locator('details[open] code').innerText()
    expect(curl).toContain('"id":"it\'\\\'\'s"')
    expect(curl).toContain('$CAMPAIGN_ACCESS_TOKEN')
    await page.keyboard.press('Escape')
    await page.waitForURL(/\/requests$/)
  })

  test('endpoints are added, changed and removed; an event is sent to them', async () => {
    const { url } = await dev([])
    const page = await open(`${url}/webhooks/new`)
    await page.getByRole('textbox', { name: 'URL', exact: true }).fill(hook)
    await page.getByRole('textbox', { name: 'Hook ID' }).fill('mine')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('button', { name: 'Edit mine' }).click()
    await page.getByRole('textbox', { name: 'Only campaigns' }).fill('demo')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('only demo').waitFor()
    const form = page.getByRole('form', { name: 'Send an event' })
    await form.getByRole('textbox', { name: 'Account' }).fill('ada')
    await form.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('link', { name: /action_completed/ }).waitFor()
    const [message] = endpoint.arrived as [{ body: string; signature: string }]
    expect(verifyWebhook(SECRET, message.body, message.signature)).toBe(true)
    await page.getByRole('button', { name: 'Remove mine' }).click()
    await page.getByText('No endpoint is registered').waitFor()
  })

  test('a fault is switched on, counted down and cancelled', async () => {
    const { url, client } = await dev()
    const page = await open(`${url}/faults`)
    await page.getByLabel('On', { exact: true }).selectOption('getCampaignInfo')
    await page.getByLabel('HTTP code').fill('503')
    await page.getByLabel('How often').fill('2')
    await page.getByRole('button', { name: 'Switch on' }).click()
    await page.getByText('2 left').waitFor()
    await expect(client.getCampaignInfo({ pid: 'demo' })).rejects.toMatchObject({ status: 503 })
    await page.getByText('1 left').waitFor()
    await page.getByRole('button', { name: 'Cancel status on getCampaignInfo' }).click()
    await page.getByText('None is switched on').waitFor()
    expect(await client.getCampaignInfo({ pid: 'demo' })).toMatchObject({ id: 'demo' })
  })

  test('the state is loaded from a seed and set back, by keyboard', async () => {
    const { url, client } = await dev()
    const seed = join(scratchFolder(), 'seed.json')
    writeFileSync(seed, JSON.stringify({ campaigns: [{ id: 'other', users: [{ account: 'u', platform: 'p' }] }] }))
    const page = await open(url)
    await page.locator('input[type=file]').setInputFiles(seed)
    await page.getByText('seed.json is loaded').waitFor()
    expect(await client.getCampaignInfo({ pid: 'other' })).toMatchObject({ id: 'other' })
    await page.getByRole('button', { name: 'Reset' }).press('Enter')
    await page.getByRole('button', { name: 'Forget it all' }).press('Enter')
    await page.getByText('Everything is as it was').waitFor()
    expect(await client.getCampaignInfo({ pid: 'demo' })).toMatchObject({ id: 'demo' })
  })

  test('what strangers send is text, and does nothing', async () => {
    const { url, client } = await dev()
    const evil = '<img src=x onerror=alert(1)><script>alert(1)</script>'
    const account = `${evil}\u202egnp.exe`
    await client.updateUser({ account, platform: '"><svg onload=alert(1)>', pid: 'demo', name: evil, team: '{{7*7}}' })
    await fetch(`${url}/api/v1/${encodeURIComponent(evil)}`, {
      method: 'POST',
      headers: { 'x-evil': '<script>', 'content-type': 'text/html' },
      body: evil,
    })
    const page = await open(url)
    for (const place of ['/', '/users', '/requests/1', '/requests/2']) {
      await page.goto(url + place)
      await page.locator('.live.on').waitFor()
      expect(await page.locator('img[src=x], svg[onload], script:not([src])').count()).toBe(0)
    }
    await page.goto(`${url}/users`)
    await expect.poll(() => page.locator('.rows').first().innerText()).toContain('\\u202egnp.exe')
  })

  test.each([
    ['light', DESKTOP],
    ['dark', DESKTOP],
    ['light', PHONE],
    ['dark', PHONE],
  ] as const)('every place is accessible and fits: %s, %o', async (scheme, viewport) => {
    endpoint.status = 500
    const { url, client } = await dev()
    await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'a', xp: 5 })
    await expect.poll(() => endpoint.arrived).toHaveLength(1)
    const page = await open(url, viewport, scheme)
    await page.evaluate(axeSource())
    for (const place of [...PLACES, ...MORE_PLACES]) {
      if (place !== '/')
        await page.evaluate(`history.pushState(null, '', '${place}'); dispatchEvent(new Event('popstate'))`)
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 50))')
      const violations = await page.evaluate<string[]>(
        "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map((v) => v.id + ': ' + v.nodes[0].html))",
      )
      expect([place, violations]).toEqual([place, []])
      expect([place, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([place, viewport.width])
    }
  })
})
