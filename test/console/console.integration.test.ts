import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { CampaignClient } from 'campaign-client'
import { verifyWebhook } from 'campaign-client/webhook'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeSource, type Locator, launchBrowser, missingBrowser, type Page } from '../browser/browser.ts'
import { scratchFolder, startProcess } from '../cli/command.ts'
import { FULL_SIZE } from '../support/full-size.ts'
import { skipsWithout } from '../support/skips-without.ts'

/** How long a test waits for the page: a busy machine is slow. */
const PATIENCE_MS = 90_000
const SECRET = 'a secret of the webhook'
const DESKTOP = { width: 1400, height: 900 }
const PHONE = { width: 390, height: 844 }
const PATHS = ['/', '/users', '/users/demo/discord/ada', '/users/demo', '/requests', '/requests/1', '/webhooks']
const MORE_PATHS = [
  '/requests/call',
  '/requests/call/1',
  '/requests/1?compare=2',
  '/webhooks?show=failed',
  '/webhooks/new',
  '/webhooks/test',
  '/faults',
  '/clock',
  '/start',
  '/nowhere/at/all',
]
const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7'
/** The clock of the command runs: on a busy machine, the first retries may be over when the page shows the next. */
const ANY_RETRY = /retry [1-4] in/

describe.skipIf(skipsWithout('Chromium', missingBrowser))('the console in a browser', () => {
  let browser: Awaited<ReturnType<typeof launchBrowser>>
  /** The first message that contains `failOnce` gets 500. */
  const endpoint = { status: 200, failOnce: '', messages: [] as { body: string; signature: string }[] }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    endpoint.messages.push({ body, signature: String(request.headers['x-service-signature']) })
    const failsOnce = endpoint.failOnce !== '' && body.includes(endpoint.failOnce)
    if (failsOnce) endpoint.failOnce = ''
    const status = failsOnce ? 500 : endpoint.status
    response.writeHead(status).end(status === 200 ? 'thanks' : '<b>down</b>')
  })
  let hook: string
  const pageErrors: string[] = []
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

  // Fail if a page logged an error or sent a request to another origin.
  afterEach(async () => {
    await Promise.all(pages.splice(0).map((page) => page.close()))
    endpoint.status = 200
    endpoint.failOnce = ''
    endpoint.messages.length = 0
    expect(pageErrors.splice(0)).toEqual([])
  })

  async function dev(args: readonly string[] = ['--webhook', hook]) {
    const running = await startProcess(['dev', '--port', '0', '--quiet', ...args], {
      env: { CAMPAIGN_WEBHOOK_SECRET: SECRET },
    })
    const [, url = ''] = await running.until('stdout', /^(http:\S+)\/\n/)
    // Many calls at once take long on a busy machine.
    const more = { maxRetries: 0, timeoutMs: 120_000, totalTimeoutMs: 120_000 }
    const client = new CampaignClient({ baseUrl: `${url}/api/v1`, accessToken: 'any', ...more })
    const stop = async () => {
      running.kill('SIGTERM')
      await running.ended
    }
    return { url, client, stop }
  }

  /** Waits until the endpoint has received a number of messages; more if it fails and a retry has come. Returns the messages. */
  async function messagesReceived(number: number) {
    const received = expect.poll(() => endpoint.messages.length)
    await (endpoint.status === 200 ? received.toBe(number) : received.toBeGreaterThanOrEqual(number))
    return endpoint.messages
  }

  /** Opens a page, in the browser window of `sibling` if it is given. */
  async function open(
    url: string,
    viewport = DESKTOP,
    colorScheme: 'light' | 'dark' = 'light',
    sibling?: Page,
  ): Promise<Page> {
    const context = sibling?.context() ?? (await browser.newContext({ viewport, colorScheme }))
    const page = await context.newPage()
    page.setDefaultTimeout(PATIENCE_MS)
    pages.push(page)
    const { origin } = new URL(url)
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') pageErrors.push(message.text())
    })
    page.on('pageerror', (error) => pageErrors.push(error.message))
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== origin) pageErrors.push(`requested ${request.url()}`)
    })
    await page.goto(url)
    await page.locator('.live.on').waitFor()
    // The effect that sets the title also adds the listener for keys.
    await expect.poll(() => page.title()).toContain(' · ')
    return page
  }

  const control = (url: string, action: string, body: object) =>
    fetch(`${url}/control/${action}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  /**
   * Makes the remaining retries of the only delivery. Waits until the page shows each: an earlier click finds no retry. The
   * clock of the command runs, so a retry may become due by itself on a busy machine.
   */
  async function makeAllRetries(page: Page) {
    const nextRetry = () => page.getByText(`retry ${endpoint.messages.length} in`).count()
    while (endpoint.messages.length < 5) {
      await expect.poll(nextRetry).toBe(1)
      const made = endpoint.messages.length
      await page.getByRole('button', { name: 'To the next retry' }).click()
      await expect.poll(() => endpoint.messages.length).toBeGreaterThan(made)
    }
    await page.getByText('No retry is scheduled.').waitFor()
  }

  /** Clears a list and confirms it. */
  async function clear(page: Page, list: 'requests' | 'deliveries') {
    await page.getByRole('button', { name: `Clear the ${list}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Clear', exact: true }).click()
  }

  const heading = (page: Page, name: string) => page.getByRole('heading', { name })

  test('each section has its heading, and the home shows a code sample until the first call arrives', async () => {
    const { url, client } = await dev()
    const page = await open(url)
    for (const name of ['Users', 'Webhooks', 'Faults', 'Clock', 'Requests']) {
      await page
        .getByRole('link', { name: new RegExp(`^${name}`) })
        .first()
        .click()
      await page.getByRole('heading', { name, exact: true }).waitFor()
    }
    await page.goto(url)
    await heading(page, 'Requests').waitFor()
    const sample = await page.locator('.start pre').first().innerText()
    expect(sample.split('\n')).toHaveLength(3)
    expect(sample).toContain(`baseUrl: '${url}/api/v1'`)
    await page.getByText('node try.mjs').waitFor()
    await client.getCampaignInfo({ pid: 'demo' })
    await page.locator('.start').waitFor({ state: 'hidden' })
    await page.getByRole('link', { name: 'Requests' }).first().click()
    await page.getByRole('link', { name: /getCampaignInfo/ }).click()
    await page.waitForURL(/\/requests\/1$/)
    await expect.poll(() => page.title()).toBe('getCampaignInfo · Requests · campaign-client dev')
    await page.goBack()
    await heading(page, 'Requests').waitFor()
  })

  test('before the first response of the service, the page claims nothing', async () => {
    const { url } = await dev()
    const page = await open(url)
    await page.getByText('Make your first call').waitFor()
    await page.route('**/console/changes*', () => {})
    await page.goto(url)
    await page.locator('.skeleton').waitFor()
    expect(await page.getByText('Make your first call').count()).toBe(0)
  })

  test('the Test tool sends the message, shows it with the response, and adds it to the deliveries', async () => {
    const { url } = await dev()
    const page = await open(`${url}/webhooks`)
    await page.getByRole('link', { name: /^Test hook/ }).click()
    const form = page.getByRole('form', { name: 'Test webhook' })
    await page.waitForURL(/\/webhooks\/test\/hook/)
    // The Test button of the webhook has focused the form.
    await form.locator('input:focus').waitFor()
    await page.keyboard.type('ada')
    await form.getByRole('button', { name: 'Test' }).click()
    expect(await form.getByLabel('Success').innerText()).toBe('true')
    expect(await form.getByLabel('Status').innerText()).toBe('200')
    expect(await form.getByLabel('Data').innerText()).toBe('thanks')
    const [message] = await messagesReceived(1)
    const payload = await form.getByLabel('Payload').innerText()
    expect(payload.split('\n').length).toBeGreaterThan(20)
    expect(JSON.parse(payload)).toEqual(JSON.parse(message?.body ?? ''))
    expect(verifyWebhook(SECRET, message?.body ?? '', message?.signature)).toBe(true)
    await form.getByText(`Sent to ${hook}`).waitFor()
    await page.getByRole('link', { name: /action_completed to .*, delivered/ }).waitFor()
    await form.locator('a[href^="/webhooks/deliveries/test-"]').waitFor()
    await form.getByRole('textbox', { name: 'User ID' }).fill('nobody')
    await form.getByRole('button', { name: 'Test' }).click()
    await form.locator('.field').getByText('There is no user "nobody"').waitFor()
    expect(await form.getByLabel('Success').count()).toBe(0)
  })

  test('a task is completed by a button, and its delivery shows the response of the receiver', async () => {
    endpoint.status = 503
    const { url } = await dev()
    const page = await open(`${url}/users/demo/discord/linus`)
    await page.getByText('needs connect-wallet').first().waitFor()
    expect(await page.getByRole('button', { name: 'Complete follow' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Complete connect-wallet' }).press('Enter')
    await page.locator('.pane .check.done').first().waitFor()
    await page.locator('.pane:focus').waitFor()
    expect(await page.getByRole('button', { name: 'Complete follow' }).isDisabled()).toBe(false)
    await page.getByRole('link', { name: 'Requests' }).first().click()
    await page.getByRole('row', { name: /done Task completed connect-wallet linus/ }).waitFor()
    await page.getByRole('link', { name: 'Webhooks' }).first().click()
    await page
      .getByRole('row', { name: /waiting action_completed to .* · 50 XP linus retry [1-4] in .* hook.* 503/ })
      .waitFor()
    await page.getByRole('link', { name: /action_completed/ }).click()
    await page.waitForURL(/\/deliveries\//)
    await page.getByText('<b>down</b>').waitFor()
  })

  test('one message to three endpoints is one event with three rows', async () => {
    const { url, client } = await dev([1, 2, 3].flatMap((number) => ['--webhook', `${hook}/${number}`]))
    await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'a', xp: 5 })
    await messagesReceived(3)
    const page = await open(`${url}/webhooks`)
    await expect.poll(() => page.getByRole('link', { name: /delivered/ }).count()).toBe(3)
    expect(await page.locator('tr.same').count()).toBe(2)
  })

  test('a request shows the reason of its refusal and a curl command, and is found by its arguments', async () => {
    const { url, client } = await dev()
    const award = { address: WALLET, pid: 'demo', id: "it's", xp: 1 }
    await client.rewardWallet(award)
    await client.rewardWallet(award).catch(() => {})
    await client.getUserProgress({ account: 'linus', platform: 'discord', pid: 'demo' })
    const page = await open(`${url}/requests`)
    const rows = page.locator('.requests tbody tr')
    await expect.poll(() => rows.count()).toBe(3)
    await page.keyboard.press('/')
    await page.keyboard.type('linus')
    await page.waitForURL(/find=linus/)
    await expect.poll(() => rows.count()).toBe(1)
    await page.getByRole('searchbox', { name: 'Search requests' }).fill('')
    await page.getByRole('button', { name: 'Refused only' }).click()
    await page.waitForURL(/show=refused/)
    await expect.poll(() => rows.count()).toBe(1)
    await page.getByRole('link', { name: /rewardWallet/ }).click()
    await page.getByText('Refused: the reward id "it\'s" has been used before').waitFor()
    await page.locator('summary').getByText('As curl').click()
    const curl = await page.locator('.pane details[open] > pre code').innerText()
    expect(curl).toContain('"id":"it\'\\\'\'s"')
    expect(curl).toContain('CAMPAIGN_ACCESS_TOKEN:-dev}')
    await page.keyboard.press('Escape')
    await page.waitForURL(/\/requests\?show=refused$/)
  })

  test('JSON can be collapsed, and a long value is cut and shows its size', async () => {
    const { url, client } = await dev()
    const name = 'n'.repeat(200_000)
    await client.updateUser({ account: 'long', platform: 'discord', pid: 'demo', name })
    const page = await open(`${url}/requests/1`)
    await page.getByText('200 kB').first().waitFor()
    const body = page.locator('.json').first()
    expect((await body.innerText()).length).toBeLessThan(1000)
    await body.locator('summary').click()
    await expect.poll(async () => (await body.innerText()).trim()).toBe('{')
    for (const path of ['/users', '/users/demo/discord/long', '/requests']) {
      await page.goto(url + path)
      await page.locator('tbody tr').first().waitFor()
      expect([path, (await page.locator('#root').innerText()).length < 10_000]).toEqual([path, true])
    }
  })

  test('endpoints are added, changed, and removed after confirmation; errors appear at their field', async () => {
    const { url } = await dev([])
    const page = await open(`${url}/webhooks/new`)
    await page.getByRole('textbox', { name: 'URL', exact: true }).fill('nonsense')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.locator('.field').getByText('"nonsense" is not a URL that').waitFor()
    await page.locator('textarea[aria-invalid=true]:focus').waitFor()
    await page.getByRole('textbox', { name: 'URL', exact: true }).fill(hook)
    await page.getByRole('textbox', { name: 'Hook ID' }).fill('mine')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('link', { name: 'Edit mine' }).click()
    await page.getByRole('textbox', { name: 'Only campaigns' }).fill('demo')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('only demo').waitFor()
    await page.getByRole('button', { name: 'Remove mine' }).click()
    await page.getByRole('button', { name: 'Keep it' }).click()
    await page.getByRole('button', { name: 'Remove mine' }).click()
    await page.getByRole('button', { name: 'Remove it' }).click()
    await page.getByText('No webhook is registered').waitFor()
  })

  test('a fault is switched on, shown in the navigation, counted down and switched off', async () => {
    const { url, client } = await dev()
    const page = await open(`${url}/faults`)
    await page.getByLabel('On', { exact: true }).selectOption('getCampaignInfo')
    await page.getByLabel('HTTP status').fill('99')
    await page.getByRole('button', { name: 'Switch on' }).click()
    await page.locator('.field').getByText('status must be a whole number, 200 or more').waitFor()
    await page.getByLabel('HTTP status').fill('503')
    await page.getByLabel('Times').fill('2')
    await page.getByRole('button', { name: 'Switch on' }).click()
    await page.getByText('2 left').waitFor()
    await page.getByRole('link', { name: '1 injected fault' }).waitFor()
    await expect(client.getCampaignInfo({ pid: 'demo' })).rejects.toMatchObject({ status: 503 })
    await page.getByText('1 left').waitFor()
    await page.getByRole('link', { name: '1 call', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Switch off error status on getCampaignInfo' }).press('Enter')
    await page.getByText('No fault is switched on').waitFor()
    // The button is gone; the focus stays in the list.
    await page.locator('#main:focus').waitFor()
    expect(await client.getCampaignInfo({ pid: 'demo' })).toMatchObject({ id: 'demo' })
  })

  test('a seed is loaded, and the service is reset by keyboard', async () => {
    const { url, client } = await dev()
    const seed = join(scratchFolder(), 'seed.json')
    writeFileSync(seed, JSON.stringify({ campaigns: [{ id: 'other', users: [{ account: 'u', platform: 'p' }] }] }))
    const page = await open(url)
    await page.locator('input[type=file]').setInputFiles(seed)
    const dialog = page.getByRole('dialog', { name: 'Load this seed?' })
    await dialog.getByText('seed.json replaces campaigns, users, awards and webhooks').waitFor()
    await page.locator('dialog button:focus').getByText('Cancel').waitFor()
    await dialog.getByRole('button', { name: 'Load it' }).click()
    await page.getByText('seed.json was loaded').waitFor()
    expect(await client.getCampaignInfo({ pid: 'other' })).toMatchObject({ id: 'other' })
    await page.getByRole('button', { name: 'Reset' }).press('Enter')
    await page.getByText('the webhooks and secrets that you entered').waitFor()
    await page.locator('dialog button:focus').getByText('Cancel').waitFor()
    await page.getByRole('button', { name: 'Reset everything' }).press('Enter')
    await page.getByText('The service was reset').waitFor()
    expect(await client.getCampaignInfo({ pid: 'demo' })).toMatchObject({ id: 'demo' })
  })

  test('eight open tabs show new requests', async () => {
    const { url, client } = await dev()
    const page = await open(`${url}/requests`)
    const tabs = [page]
    for (let number = 2; number <= 8; number++) tabs.push(await open(`${url}/requests`, DESKTOP, 'light', page))
    await client.getCampaignInfo({ pid: 'demo' })
    for (const tab of tabs) await tab.getByRole('link', { name: 'getCampaignInfo' }).waitFor()
  })

  test('an unknown page links back, and a banner shows that the service has stopped', async () => {
    const { url, stop } = await dev()
    const page = await open(`${url}/users/demo/discord/nobody`)
    await page.getByRole('link', { name: 'Back to the list' }).click()
    await page.waitForURL(/\/users$/)
    await stop()
    await page.getByRole('alert').getByText('The service does not respond').waitFor()
    // The browser logs each failed request.
    pageErrors.length = 0
  })

  test('long lists render only the rows in view, and scroll to their end', async () => {
    const { url, client } = await dev()
    for (let number = 1; number <= 400; number++) await client.getCampaignInfo({ pid: 'demo' })
    const page = await open(`${url}/requests`)
    await page.getByRole('link', { name: 'Requests 400' }).waitFor()
    expect(await page.locator('tbody tr').count()).toBeLessThan(150)
    await page.evaluate("document.getElementById('main').scrollTo(0, 1e6)")
    await page.locator('tbody a[href="/requests/1"]').waitFor()
    expect(await page.locator('tbody tr').count()).toBeLessThan(150)
  })

  /** Returns the top of the open item's row, and whether it is in view. */
  const rowPlace = (page: Page, selector = 'tr:has(.opens[aria-current])') =>
    page.evaluate<{ top: number; isVisible: boolean }>(`(() => {
      const { top, bottom } = document.querySelector('${selector}').getBoundingClientRect()
      return { top, isVisible: top >= 0 && bottom <= innerHeight }
    })()`)

  test('a filter stays while an item is opened and closed; the row keeps its place and gets the focus back', async () => {
    const { url, client } = await dev()
    for (let number = 1; number <= 120; number++) {
      await client.updateUser({ account: `user-${number}`, platform: 'discord', pid: 'demo', name: 'n' })
    }
    const page = await open(`${url}/requests?find=user-1`)
    const link = page.locator('a[data-to="/requests/100"]')
    await link.waitFor()
    await page.evaluate("document.getElementById('main').scrollTo(0, 400)")
    const before = await rowPlace(page, 'tr:has(a[data-to="/requests/100"])')
    expect(before.isVisible).toBe(true)
    for (const close of ['Escape', 'the button'] as const) {
      await link.click()
      await page.waitForURL(/\/requests\/100\?find=user-1$/)
      await page.locator('.pane').getByText('user-100').first().waitFor()
      await expect.poll(async () => (await rowPlace(page)).top).toBeCloseTo(before.top, 0)
      if (close === 'Escape') await page.keyboard.press('Escape')
      else await page.getByRole('link', { name: 'Close' }).click()
      await page.waitForURL(/\/requests\?find=user-1$/)
      await page.locator('a[data-to="/requests/100"]:focus').waitFor()
      await expect.poll(async () => (await rowPlace(page, 'tr:has(:focus)')).top).toBeCloseTo(before.top, 0)
    }
    // A click beside the link opens the item as well.
    await page.locator('tr:has(a[data-to="/requests/100"]) td.state').click()
    await page.waitForURL(/\/requests\/100\?find=user-1$/)
    await page.locator('.pane:focus').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('a[data-to="/requests/100"]:focus').waitFor()
  })

  test('the filter of the deliveries stays while the forms and other deliveries are opened and closed', async () => {
    const { url, client } = await dev()
    await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'a', xp: 5 })
    await messagesReceived(1)
    const page = await open(`${url}/webhooks?find=reward`)
    for (const name of [/^Test hook/, /^Edit hook/, 'Add a webhook']) {
      await page.getByRole('link', { name }).click()
      await page.waitForURL(/\/webhooks\/\w+.*\?find=reward$/)
      await page.locator('.pane:has(:focus), .pane:focus').waitFor()
      await page.keyboard.press('Escape')
      await page.waitForURL(/\/webhooks\?find=reward$/)
      // The focus is back on the link.
      await page.locator('#main a:focus').waitFor()
    }
    await page.getByRole('link', { name: /, delivered/ }).click()
    await page.getByRole('button', { name: 'Redeliver' }).click()
    await page.locator('.pane').getByText('Other deliveries of this message').waitFor()
    await page
      .locator('.pane')
      .getByRole('link', { name: /^reward_claimed/ })
      .click()
    await page.waitForURL(/\/webhooks\/deliveries\/.*\?find=reward$/)
  })

  test('after Clear, the clock still shows the retries that wait', async () => {
    endpoint.status = 503
    const { url, client } = await dev()
    await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'a', xp: 5 })
    const page = await open(`${url}/webhooks`)
    await page.getByRole('row', { name: /waiting/ }).waitFor()
    await clear(page, 'deliveries')
    await page.getByText('Retries that wait and the state stay.').waitFor()
    await page.goto(`${url}/clock`)
    await page.getByText(ANY_RETRY).waitFor()
  })

  test('on a phone, the webhooks of a message are told apart', async () => {
    const { url, client } = await dev([])
    for (const hook_id of ['mine', 'theirs']) await control(url, 'saveWebhook', { hook_id, urls: [hook] })
    await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'a', xp: 5 })
    await messagesReceived(2)
    const page = await open(`${url}/webhooks`, PHONE)
    await page.locator('tr.same').getByText('mine').waitFor()
    await page.locator('tr:not(.same)').getByText('theirs').waitFor()
  })

  test('an item that is opened by its address is scrolled into view', async () => {
    const { url, client } = await dev()
    for (let number = 1; number <= 200; number++) await client.getCampaignInfo({ pid: 'demo' })
    const page = await open(`${url}/requests/7`)
    await expect.poll(async () => page.locator('tr:has(.opens[aria-current])').count()).toBe(1)
    await expect.poll(async () => (await rowPlace(page)).isVisible).toBe(true)
    // New requests do not move it.
    const { top } = await rowPlace(page)
    await client.getCampaignInfo({ pid: 'demo' })
    await page.locator('nav').getByText('201').waitFor()
    await expect.poll(async () => (await rowPlace(page)).top).toBeCloseTo(top, 0)
  })

  test('with a delivery open, the rows of the others still tell them apart', async () => {
    endpoint.status = 503
    const { url, client } = await dev(['--webhook', hook, '--webhook', hook.replace('127.0.0.1', 'localhost')])
    await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'a', xp: 5 })
    await messagesReceived(2)
    const page = await open(`${url}/webhooks`)
    await page.getByRole('link', { name: /localhost/ }).click()
    await page.locator('.pane .timeline').waitFor()
    const row = page.locator('tr:has(.opens[aria-current])')
    await expect.poll(() => row.innerText()).toMatch(/waiting[\s\S]*retry 1 in[\s\S]*503/)
    for (const [ms, text] of [
      [95_000, /retry 4 in 4 min/],
      [300_000, /undelivered[\s\S]*5 attempts/],
    ] as const) {
      await control(url, 'advance', { ms })
      await expect.poll(() => row.innerText()).toMatch(text)
    }
  })

  test('a half-filled form survives Escape, and text in a row can be selected', async () => {
    const { url, client } = await dev()
    await client.getCampaignInfo({ pid: 'demo' })
    const page = await open(`${url}/webhooks/new`)
    const field = page.getByRole('textbox', { name: 'Hook ID' })
    await field.fill('mine')
    await field.press('Escape')
    await page.getByText('The form has text that was not sent').waitFor()
    await field.fill('')
    await field.press('Escape')
    await page.waitForURL(/\/webhooks$/)
    await page.goto(`${url}/requests`)
    await page.locator('.who bdi').first().waitFor()
    const { x, y } = await page.evaluate<{ x: number; y: number }>(
      "(({ left, right, top }) => ({ x: right, y: top + 5 }))(document.querySelector('.who bdi').getBoundingClientRect())",
    )
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x - 60, y)
    await page.mouse.up()
    expect(await page.evaluate('String(getSelection())')).toMatch(/demo/)
    await page.evaluate('getSelection().removeAllRanges()')
    await page.locator('td.who').first().click()
    await page.waitForURL(/\/requests\/1$/)
  })

  test('a redelivered message, its copy and the call that caused it are linked', async () => {
    endpoint.status = 503
    const { url, client } = await dev()
    await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'a', xp: 5 })
    const page = await open(`${url}/webhooks`)
    await page.getByRole('link', { name: /reward_claimed to .*, waiting/ }).click()
    const attempts = page.locator('.timeline li')
    // The attempts that were made, and the next one.
    await expect.poll(async () => (await attempts.count()) - endpoint.messages.length).toBe(1)
    await page.goto(`${url}/clock`)
    await makeAllRetries(page)
    endpoint.status = 200
    await page.goto(`${url}/webhooks`)
    await page.getByRole('link', { name: /undelivered/ }).click()
    await page.getByRole('button', { name: 'Redeliver' }).click()
    await page
      .locator('#main')
      .getByRole('link', { name: /, redelivered/ })
      .waitFor()
    const pane = page.locator('.pane')
    await pane.getByText('Other deliveries of this message').waitFor()
    await pane.getByRole('link', { name: /^reward_claimed/ }).click()
    await pane.getByText('redelivered').first().waitFor()
    // A delivered or undelivered message lists only the attempts that were made.
    await expect.poll(() => attempts.count()).toBe(5)
    await pane.getByRole('link', { name: 'rewardWallet' }).click()
    await page.waitForURL(/\/requests\/1$/)
    await pane.getByText('Messages that followed').waitFor()
    await pane.getByRole('link', { name: /^reward_claimed/ }).waitFor()
  })

  test('the attempts of one call stand together, and a list can be cleared', async () => {
    const { url, client } = await dev()
    const page = await open(`${url}/faults`)
    await page.getByLabel('Times').fill('1')
    await page.getByRole('button', { name: 'Switch on' }).click()
    await page.getByText('1 left').waitFor()
    const failing = { address: WALLET, pid: 'demo', id: 'a', xp: 5 }
    await client.rewardWallet(failing).catch(() => {})
    await client.getCampaignInfo({ pid: 'demo' })
    await client.rewardWallet(failing)
    await page.goto(`${url}/requests`)
    const operations = () =>
      page.evaluate<string[]>("[...document.querySelectorAll('td.name')].map((cell) => cell.innerText)")
    await expect
      .poll(operations)
      .toEqual(['rewardWallet a · 5 XP · attempt 2', 'rewardWallet a · 5 XP', 'getCampaignInfo'])
    await clear(page, 'requests')
    await page.getByText('3 requests cleared. New ones appear here.').waitFor()
    expect(await client.getCampaignPoints({ pid: 'demo' })).toMatchObject({ total_points: 1270 })
  })

  test('times of another day have their date, and a mended secret comes with a note on waiting retries', async () => {
    endpoint.status = 503
    const { url, client } = await dev()
    await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'a', xp: 5 })
    const page = await open(`${url}/webhooks`)
    await page.getByRole('link', { name: /^Edit/ }).click()
    await page.getByLabel('Secret', { exact: true }).fill('the mended secret')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Retries that wait keep the signature of the old secret').waitFor()
    await page.goto(`${url}/clock`)
    await page.getByRole('button', { name: '+ 1 day' }).click()
    await page.getByText('The clock has moved by 1 day.').waitFor()
    await client.getCampaignInfo({ pid: 'demo' })
    await page.goto(`${url}/requests`)
    expect(await page.locator('td.at').first().innerText()).toMatch(/^\d+ [A-Z][a-z]+ \d\d:\d\d:\d\d$/)
  })

  test('a fault of webhook deliveries is switched on, and the attempt shows it', async () => {
    const { url } = await dev()
    const page = await open(`${url}/faults`)
    await page.getByLabel('On', { exact: true }).selectOption('delivery')
    await page.getByLabel('Kind').selectOption('missing_field')
    await page.getByLabel('Field').fill('event.data.xp')
    await page.getByRole('button', { name: 'Switch on' }).click()
    await page.getByText('webhook delivery: missing field event.data.xp').waitFor()
    await page.goto(`${url}/users/demo/discord/linus`)
    await page.getByRole('button', { name: 'Complete connect-wallet' }).click()
    const [message] = await messagesReceived(1)
    expect(JSON.parse(message?.body ?? '').event.data).not.toHaveProperty('xp')
    expect(verifyWebhook(SECRET, message?.body ?? '', message?.signature)).toBe(true)
    await page.goto(`${url}/webhooks`)
    await page.getByRole('link', { name: /action_completed/ }).click()
    await page.getByText('fault: missing field').waitFor()
    await page.getByRole('link', { name: /^Faults/ }).click()
    await page.getByRole('link', { name: '1 delivery', exact: true }).click()
    await page.getByRole('link', { name: /action_completed to .*, delivered/ }).click()
    await page.waitForURL(/\/webhooks\/deliveries\//)
  })

  test('words are joined by AND, fields narrow the search, and bodies are searched', async () => {
    const { url, client } = await dev()
    await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'payout-1', xp: 5 })
    await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'payout-1', xp: 5 }).catch(() => {})
    await control(url, 'addFault', { kind: 'status', status: 503 })
    const reading = { account: 'linus', platform: 'discord', pid: 'demo' }
    await client.getUserProgress(reading).catch(() => {})
    await client.getUserProgress(reading)
    const page = await open(`${url}/requests`)
    const rows = page.locator('.requests tbody tr')
    for (const [text, number] of [
      ['payout-1 rewardwallet', 2],
      ['payout-1 linus', 0],
      ['status:503', 1],
      ['status:2xx user:linus', 1],
      ['operation:getUser', 2],
      ['is:retried', 2],
      ['is:failed operation:reward', 1],
      // Only the response has these words.
      ['connect-wallet', 1],
      ['linus "connect a wallet"', 1],
    ] as const) {
      await page.getByRole('searchbox').fill(text)
      await expect.poll(async () => [text, await rows.count()]).toEqual([text, number])
    }
    await page.getByRole('searchbox').fill('stauts:503')
    await page.locator('u').getByText('stauts:503').waitFor()
    await page.getByRole('button', { name: 'Injected fault' }).waitFor()
    await page.getByRole('button', { name: 'status:' }).click()
    await expect.poll(() => rows.count()).toBe(1)
    await page.getByRole('searchbox').fill('nothing like this')
    await page.getByRole('button', { name: 'Clear search' }).click()
    await expect.poll(() => rows.count()).toBe(4)
    await page.locator('#main').press('?')
    await page.getByRole('dialog').getByText('calls and messages about a user').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
  })

  test('a cleared filter leaves the other rows, and Undo brings the cleared ones back in their order', async () => {
    const { url, client } = await dev()
    for (const account of ['ada', 'linus', 'ada']) {
      await client.getUserProgress({ account, platform: 'discord', pid: 'demo' })
    }
    const page = await open(`${url}/requests?find=user:ada`)
    const subjects = () =>
      page.evaluate<string[]>("[...document.querySelectorAll('td.who')].map((cell) => cell.innerText.slice(0, 3))")
    await expect.poll(subjects).toEqual(['ada', 'ada'])
    await page.getByRole('button', { name: 'Clear the requests' }).click()
    await page.getByText('Clear the 2 rows of this filter?').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Clear', exact: true }).click()
    await page.getByText('2 requests cleared').waitFor()
    await page.getByRole('searchbox').fill('')
    await client.getUserProgress({ account: 'grace', platform: 'discord', pid: 'demo' })
    await expect.poll(subjects).toEqual(['gra', 'lin'])
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(subjects).toEqual(['gra', 'ada', 'lin', 'ada'])
  })

  test('a list is one tab stop; keys move in it, open a row and close it', async () => {
    const { url, client } = await dev()
    for (let number = 1; number <= 60; number++) await client.getCampaignInfo({ pid: 'demo' })
    const page = await open(`${url}/requests`)
    const focused = () => page.evaluate<string>("document.activeElement.getAttribute('data-to')")
    expect(await page.locator('tbody a[tabindex="0"]').count()).toBe(1)
    await page.keyboard.press('j')
    expect(await focused()).toBe('/requests/60')
    await page.keyboard.press('j')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('k')
    await expect.poll(focused).toBe('/requests/59')
    await page.keyboard.press('End')
    await expect.poll(focused).toBe('/requests/1')
    expect((await rowPlace(page, 'tr:has(:focus)')).isVisible).toBe(true)
    expect(await page.locator('tbody a[tabindex="0"]').count()).toBe(1)
    await page.keyboard.press('ArrowUp')
    await expect.poll(focused).toBe('/requests/2')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/requests\/2$/)
    await page.locator('.pane:focus').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(focused).toBe('/requests/2')
    await page.keyboard.press('Tab')
    expect(await page.locator('tbody :focus').count()).toBe(0)
  })

  test('a message that is sent again is shown, even if the filter excludes it', async () => {
    endpoint.status = 503
    const { url, client } = await dev()
    await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'a', xp: 5 })
    const page = await open(`${url}/clock`)
    await makeAllRetries(page)
    endpoint.status = 200
    await page.goto(`${url}/webhooks?show=undelivered`)
    await page.locator('.deliveries .opens').click()
    await page.getByRole('button', { name: 'Redeliver' }).click()
    await page.locator('tr:has(.opens[aria-current])').getByText('delivered').waitFor()
  })

  test('the width of the open item can be dragged or changed by keys, and stays', async () => {
    const { url, client } = await dev()
    await client.getCampaignInfo({ pid: 'demo' })
    const page = await open(`${url}/requests/1`)
    const divider = page.getByRole('separator', { name: 'Width of the open item' })
    const left = () => page.evaluate<number>("document.querySelector('.pane').getBoundingClientRect().left")
    const before = await left()
    await page.mouse.move(before, 400)
    await page.mouse.down()
    await page.mouse.move(before - 200, 400)
    await page.mouse.up()
    await expect.poll(async () => Math.abs((await left()) - before + 200)).toBeLessThan(10)
    await divider.press('ArrowRight')
    await expect.poll(async () => (await left()) - before).toBeGreaterThan(-180)
    const changed = await left()
    await page.goto(`${url}/requests`)
    await page.getByRole('link', { name: 'getCampaignInfo' }).click()
    await expect.poll(left).toBeCloseTo(changed, 0)
  })

  test('the theme can be chosen, and stays', async () => {
    const { url } = await dev()
    const page = await open(url)
    const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    const light = await ground()
    await page.getByLabel('Theme').selectOption('dark')
    await expect.poll(ground).not.toBe(light)
    await page.goto(`${url}/users`)
    await expect.poll(ground).not.toBe(light)
    await page.getByLabel('Theme').selectOption('system')
    await expect.poll(ground).toBe(light)
  })

  describe('takes few clicks', () => {
    /** Counts the clicks of a test. */
    const clicker = () => {
      let clicks = 0
      return {
        async click(target: Locator) {
          clicks++
          await target.click()
        },
        clicks: () => clicks,
      }
    }

    test('to find the delivery that failed and then succeeded among 3 000, with its reason: 2', async () => {
      const { url, client } = await dev()
      const once = (id: string) => client.rewardWallet({ address: WALLET, pid: 'demo', id, xp: 1 })
      // On a busy machine, the service may close a connection just when a call uses it.
      const award = (number: number) => once(`${number}`).catch(() => once(`${number}, again`))
      endpoint.failOnce = '"1500'
      // Few at once: on a busy machine, other deliveries would fail, too.
      for (let sent = 0; sent < 3000; sent += 20) {
        await Promise.all(Array.from({ length: 20 }, (_, index) => award(sent + index)))
        await expect.poll(() => endpoint.messages.length).toBeGreaterThanOrEqual(sent + 20)
      }
      await control(url, 'advance', { ms: 5000 })
      const page = await open(url)
      const { click, clicks } = clicker()
      await click(page.getByRole('link', { name: '1 failed delivery' }))
      await click(page.getByRole('link', { name: /, delivered after 1 failure$/ }))
      const pane = page.locator('.pane')
      await pane.getByText('<b>down</b>').waitFor()
      await pane.getByText('Hint: the handler threw').waitFor()
      await pane.locator('.timeline li.good').getByText('1st retry').waitFor()
      expect(clicks()).toBe(2)
    })

    test("to read a user's story: 2", async () => {
      const { url, client } = await dev()
      await client.getUserProgress({ account: 'linus', platform: 'discord', pid: 'demo' })
      await client.getUserProgress({ account: 'ada', platform: 'discord', pid: 'demo' })
      await control(url, 'completeTask', { account: 'linus', aid: 'connect-wallet' })
      await messagesReceived(1)
      await client
        .setReferrer({ referrer: 'hedy', referral: 'linus', platform: 'discord', pid: 'demo' })
        .catch(() => {})
      const page = await open(url)
      const { click, clicks } = clicker()
      await click(page.getByRole('link', { name: 'Users' }).first())
      await click(page.getByRole('link', { name: 'Linus' }))
      await expect
        .poll(async () =>
          (await page.locator('.story').innerText()).match(/getUserProgress|\+\d+ XP|action_completed|setReferrer/g),
        )
        .toEqual(['setReferrer', '+50 XP', 'action_completed', 'getUserProgress'])
      expect(clicks()).toBe(2)
      // The filter of the users does not apply to the requests.
      await page.getByRole('searchbox').fill('linus')
      await page.waitForURL(/find=linus/)
      await page.locator('.story').getByRole('link', { name: 'getUserProgress' }).click()
      await page.waitForURL(/\/requests\/1$/)
    })

    test('to read why a call was refused, and which attempt was applied: 1', async () => {
      const { url, client } = await dev()
      await control(url, 'addFault', { on: 'rewardWallet', kind: 'applied_then_reset', times: 2 })
      for (const _ of [1, 2]) {
        await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'a', xp: 1 }).catch(() => {})
      }
      const page = await open(`${url}/requests`)
      await page.getByRole('link', { name: 'rewardWallet' }).first().click()
      await page.getByText('Refused: the reward id "a" has been used before').waitFor()
      await page.getByText(/Attempt 1 gave this award at .*; only its response was lost/).waitFor()
      await page.getByText('The service processed this attempt and refused it').waitFor()
    })

    test('to read the message of a completed task: 4', async () => {
      const { url } = await dev()
      const page = await open(url)
      const { click, clicks } = clicker()
      await click(page.getByRole('link', { name: 'Users' }).first())
      await click(page.getByRole('link', { name: 'Linus' }))
      await click(page.getByRole('button', { name: 'Complete connect-wallet' }))
      await click(page.getByRole('link', { name: 'Open the message' }))
      await page.waitForURL(/\/webhooks\/deliveries\//)
      await page.locator('.pane').getByText('connect-wallet').first().waitFor()
      expect(clicks()).toBe(4)
      // And back to the user.
      await page.locator('.pane').getByRole('link', { name: 'linus' }).first().click()
      await page.waitForURL(/\/users\/demo\/discord\/linus$/)
    })

    test('to compare the payloads of two messages: 4', async () => {
      const { url, client } = await dev()
      for (const id of ['a', 'b']) {
        await client.rewardWallet({ address: WALLET, pid: 'demo', id, xp: id === 'a' ? 5 : 7 })
      }
      await messagesReceived(2)
      const page = await open(url)
      const rows = page.locator('.deliveries .opens')
      const { click, clicks } = clicker()
      await click(page.getByRole('link', { name: 'Webhooks' }).first())
      await expect.poll(() => rows.count()).toBe(2)
      await click(rows.first())
      await click(page.getByRole('link', { name: 'Compare' }))
      await page.getByText('Choose the delivery to compare with reward_claimed').waitFor()
      await click(page.locator('.deliveries tr:not([aria-rowindex="2"]) .opens'))
      await page.locator('.diff del').getByText('"xp": 7').waitFor()
      await page.locator('.diff ins').getByText('"xp": 5').waitFor()
      expect(await page.locator('.diff span').getByText('"scope": "user_activity",').count()).toBe(2)
      expect(clicks()).toBe(4)
    })

    test('to change a message and send it again to its webhook, signed anew: 4', async () => {
      const { url, client } = await dev(['--webhook', hook, '--webhook', `${hook}/other`])
      await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'a', xp: 5 })
      const [sent] = await messagesReceived(2)
      const page = await open(url)
      const { click, clicks } = clicker()
      await click(page.getByRole('link', { name: 'Webhooks' }).first())
      await click(page.locator('.deliveries .opens').first())
      await click(page.getByRole('link', { name: 'Edit and send' }))
      await heading(page, 'Edit and send reward_claimed').waitFor()
      const field = page.getByLabel('Payload')
      const payload = await field.inputValue()
      await field.fill(payload.replace('"xp": 5', '"xp": 6'))
      await click(page.getByRole('button', { name: 'Sign and send' }))
      const [, , resent = { body: '', signature: '' }] = await messagesReceived(3)
      await page.waitForURL(/\/webhooks\/deliveries\//)
      expect(await (await fetch(`${url}/control/deliveries`)).json()).toHaveLength(3)
      expect(clicks()).toBe(4)
      const { id: oldId, ...before } = JSON.parse(sent?.body ?? '')
      const { id, ...after } = JSON.parse(resent.body)
      expect(id).not.toBe(oldId)
      before.event.data.xp = 6
      expect(after).toEqual(before)
      expect(verifyWebhook(SECRET, resent.body, resent.signature)).toBe(true)
    })

    test('to award XP by a form: 5', async () => {
      const { url } = await dev(['--webhook', hook, '--token', 'the-token-of-dev'])
      const page = await open(url)
      const { click, clicks } = clicker()
      await click(page.getByRole('link', { name: 'Try a call' }).first())
      await page.getByLabel('Method').selectOption('rewardWallet')
      await page.getByLabel('address').fill('0x12')
      await click(page.getByRole('button', { name: 'Send' }))
      await page.getByRole('alert').getByText('address must be 0x and 40 hex digits.').waitFor()
      await page.getByLabel('address').fill(WALLET)
      await page.getByLabel('xp').fill('12.5')
      await click(page.getByRole('button', { name: 'Send' }))
      await page.waitForURL(/\/requests\/1$/)
      const [message] = await messagesReceived(1)
      expect(JSON.parse(message?.body ?? '')).toMatchObject({ wallet: WALLET, event: { data: { xp: 12.5 } } })
      await click(page.locator('summary').getByText('As curl'))
      await click(page.locator('summary').getByText('As TypeScript'))
      const text = await page.locator('.pane').innerText()
      expect(text).toContain('Bearer $' + '{CAMPAIGN_ACCESS_TOKEN:-dev}')
      expect(text).toContain('await client.rewardWallet({')
      expect(text).not.toContain('the-token-of-dev')
      expect(clicks()).toBe(5)
    })
  })

  test('a request is sent again with changes', async () => {
    const { url, client } = await dev()
    await client.updateUser({ account: 'linus', platform: 'discord', pid: 'demo', team: 'kernel' })
    const page = await open(`${url}/requests/1`)
    await page.getByRole('link', { name: 'Edit and send' }).click()
    expect(await page.getByLabel('account').inputValue()).toBe('linus')
    expect(await page.getByLabel('alias (optional)').inputValue()).toBe('')
    await page.getByLabel('team (optional)').fill('dinosaurs')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.waitForURL(/\/requests\/2$/)
    const requests = (await (await fetch(`${url}/control/requests`)).json()) as { body: object }[]
    expect(requests[1]).toMatchObject({ operation: 'updateUser', status: 200 })
    expect(requests[1]?.body).toEqual({ account: 'linus', platform: 'discord', pid: 'demo', team: 'dinosaurs' })
  })

  test('a payload that is no JSON object, or that no webhook takes, is refused at its field', async () => {
    const { url, client } = await dev()
    await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'a', xp: 5 })
    await messagesReceived(1)
    const page = await open(`${url}/webhooks`)
    await page.locator('.deliveries .opens').click()
    await page.getByRole('link', { name: 'Edit and send' }).click()
    for (const [payload, words] of [
      ['{"id": 1,', 'This is not JSON'],
      ['[1]', 'Enter a JSON object.'],
      ['{"scope": "other"}', 'No webhook takes this message'],
    ] as const) {
      await page.getByLabel('Payload').fill(payload)
      await page.getByRole('button', { name: 'Sign and send' }).click()
      await page.getByRole('alert').getByText(words).waitFor()
      await page.locator('textarea[aria-invalid=true]:focus').waitFor()
    }
    expect(endpoint.messages).toHaveLength(1)
  })

  test('with traffic, the home shows failures with their share, and what is due next', async () => {
    endpoint.status = 500
    const { url, client } = await dev()
    await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'a', xp: 5 })
    await client.getCampaignInfo({ pid: 'nowhere' }).catch(() => {})
    await messagesReceived(1)
    const page = await open(url)
    const panel = (name: string) => page.getByRole('region', { name })
    await panel('Failures of the last 10 minutes').getByRole('link', { name: 'getCampaignInfo' }).waitFor()
    await panel('Failures of the last 10 minutes')
      .getByRole('link', { name: /^reward_claimed/ })
      .waitFor()
    await panel('Due next').getByText(ANY_RETRY).waitFor()
    await panel('Failures of the last 10 minutes').getByText('failed (50 %)').waitFor()
    await page.getByRole('link', { name: '1 of 2 calls' }).click()
    await page.waitForURL(/\/requests\?find=is:failed$/)
  })

  test('while the clock is moved, the menu says by how much', async () => {
    const { url } = await dev()
    const page = await open(`${url}/clock`)
    const mark = page.getByRole('link', { name: 'The clock is 1 h ahead' })
    expect(await mark.count()).toBe(0)
    await page.getByRole('button', { name: '+ 1 hour' }).click()
    await mark.getByText('+1 h').waitFor()
    await page.getByRole('button', { name: 'Back to now' }).click()
    await mark.waitFor({ state: 'hidden' })
  })

  test('values from outside are shown as text and never executed', async () => {
    const { url, client } = await dev()
    const html = '<img src=x onerror=alert(1)><script>alert(1)</script>'
    const account = `${html}\u202egnp.exe`
    await client.updateUser({ account, platform: '"><svg onload=alert(1)>', pid: 'demo', name: html, team: '{{7*7}}' })
    await fetch(`${url}/api/v1/${encodeURIComponent(html)}`, {
      method: 'POST',
      headers: { 'x-evil': '<script>', 'content-type': 'text/html' },
      body: html,
    })
    const page = await open(url)
    for (const path of ['/', '/users', '/requests/1', '/requests/2']) {
      await page.goto(url + path)
      await page.locator('.pane .code, main:not(.open) td.name').first().waitFor()
      expect(await page.locator('img[src=x], svg[onload], script:not([src])').count()).toBe(0)
    }
    await page.goto(`${url}/users`)
    await expect.poll(() => page.locator('.users').first().innerText()).toContain('\\u202egnp.exe')
  })

  const windows = [
    ['light', DESKTOP],
    ['dark', PHONE],
    ['dark', DESKTOP],
    ['light', PHONE],
  ] as const

  test.each(windows.slice(0, FULL_SIZE ? undefined : 2))(
    'every page is accessible and does not scroll horizontally: %s, %o',
    async (scheme, viewport) => {
      endpoint.status = 500
      const { url, client } = await dev()
      await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'a', xp: 5 })
      await messagesReceived(1)
      const page = await open(url, viewport, scheme)
      await page.evaluate(axeSource())
      const deliveries = (await (await fetch(`${url}/control/deliveries`)).json()) as [{ deliveryId: string }]
      for (const path of [...PATHS, ...MORE_PATHS, `/webhooks/deliveries/${deliveries[0].deliveryId}`]) {
        if (path !== '/')
          await page.evaluate(`history.pushState(null, '', '${path}'); dispatchEvent(new Event('popstate'))`)
        await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
        await expect.poll(() => page.getByText('Loading').count()).toBe(0)
        const violations = await page.evaluate<string[]>(
          "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map((v) => v.id + ': ' + v.nodes[0].html))",
        )
        expect([path, violations]).toEqual([path, []])
        expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, viewport.width])
      }
    },
  )
})
