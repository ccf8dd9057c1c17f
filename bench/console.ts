/**
 * Measures the console with 5 000 requests and 1 000 users: the longest task of the page while it loads, searches and opens
 * items, in five runs. Needs `npm run build`, Chromium and `npm ci --prefix test/browser`: `npx tsx bench/console.ts`
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { launchBrowser } from '../test/browser/browser.ts'

const REQUESTS = 5000
const USERS = 1000
const RUNS = 5

const receiver = createServer((request, response) => void request.resume().on('end', () => response.end('thanks')))
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
const command = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const dev = spawn(process.execPath, [command, 'dev', '--port', '0', '--quiet', '--webhook', hook], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const [line] = await once(dev.stdout, 'data')
const origin = String(line).trim().replace(/\/$/, '')

const post = async (path: string, body: object) => {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer any' }
  await (await fetch(origin + path, { method: 'POST', headers, body: JSON.stringify(body) })).arrayBuffer()
}
for (let sent = 0; sent < REQUESTS; sent += 50) {
  const ids = Array.from({ length: 50 }, (_, index) => sent + index)
  await Promise.all(
    ids.map((id) =>
      post('/api/v1/user', { account: `user-${id % USERS}`, platform: 'discord', pid: 'demo', name: `User ${id}` }),
    ),
  )
}
await post('/control/completeTask', { account: 'linus', aid: 'connect-wallet' })

const browser = await launchBrowser()
const longest: number[] = []
for (let run = 0; run < RUNS; run++) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, colorScheme: 'light' })
  const page = await context.newPage()
  await page.goto(`${origin}/requests`)
  await page.evaluate(`
    tasks = []
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'longtask', buffered: true })
  `)
  await page.locator('.requests .opens').first().waitFor()
  // Selectors of CSS: a search by role takes a long task of its own in the page.
  await page.locator('.filter').fill('user-12')
  await page.locator('.requests .opens').first().click()
  await page.locator('.pane .code').first().waitFor()
  await page.locator('nav a[href="/users"]').click()
  await page.locator('.users .opens').first().click()
  await page.locator('.pane .figures').waitFor()
  await page.locator('nav a[href="/webhooks"]').click()
  await page.locator('.deliveries .opens').first().waitFor()
  longest.push(Math.max(0, ...(await page.evaluate<number[]>('tasks'))))
  await page.close()
}
await browser.close()
dev.kill('SIGTERM')
receiver.close().closeAllConnections()
console.log(`longest tasks: ${longest.map(Math.round).join(', ')} ms`)
console.log(`median: ${Math.round(longest.sort((one, other) => one - other)[RUNS >> 1] ?? 0)} ms`)
