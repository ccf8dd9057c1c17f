// Opens a headless Chromium and runs the suite, bundled, in a page of the service's own origin: a browser lets no other
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
  // Imported, not added as a script: whoever adds a module script is not told when it has run.
  const outcomes = await page.evaluate(
    async ({ source, environment }) => {
      const { run } = await import(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })))
      return run(environment)
    },
    { source: readFileSync(bundle, 'utf8'), environment: address },
  )
  console.log(`REPORT ${JSON.stringify({ version: browser.version(), outcomes: [...outcomes, ...faults] })}`)
} finally {
  await browser.close()
}
