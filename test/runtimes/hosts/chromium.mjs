// Opens a headless Chromium and runs page.mjs, bundled, in a page of the service's own origin: a browser lets no other
// page talk to it.
import { readFileSync } from 'node:fs'
import { chromium } from 'playwright-core'

const { executablePath, bundle, address } = JSON.parse(process.argv[2])
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
try {
  const page = await browser.newPage()
  const faults = []
  page.on('pageerror', (error) => faults.push({ name: 'the page throws nothing', ok: false, error: String(error) }))
  page.on('console', (message) => console.log(message.text()))
  await page.goto(new URL('/', address.serviceUrl).href)
  await page.addScriptTag({ type: 'module', content: readFileSync(bundle, 'utf8') })
  const outcomes = await page.evaluate((environment) => globalThis.runSuite(environment), address)
  console.log(`REPORT ${JSON.stringify({ version: browser.version(), outcomes: [...outcomes, ...faults] })}`)
} finally {
  await browser.close()
}
