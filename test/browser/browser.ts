import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { findProgram } from '../support/server-process.ts'

// The parts of playwright-core that the tests use. The package is installed in this folder, not in the project.

interface ByName {
  readonly name: string | RegExp
  readonly exact?: boolean
}

export interface Locator {
  click(): Promise<void>
  count(): Promise<number>
  fill(text: string): Promise<void>
  first(): Locator
  getByLabel(text: string, options?: { exact: boolean }): Locator
  getByRole(role: string, options?: ByName): Locator
  getByText(text: string | RegExp): Locator
  innerText(): Promise<string>
  inputValue(): Promise<string>
  isDisabled(): Promise<boolean>
  press(key: string): Promise<void>
  selectOption(value: string): Promise<unknown>
  setInputFiles(file: string): Promise<void>
  locator(selector: string): Locator
  waitFor(options?: { state: 'hidden' | 'visible' }): Promise<void>
}

export interface Page extends Pick<Locator, 'getByLabel' | 'getByRole' | 'getByText'> {
  close(): Promise<void>
  context(): { newPage(): Promise<Page> }
  evaluate<Result>(script: string): Promise<Result>
  goBack(): Promise<unknown>
  goto(url: string): Promise<unknown>
  keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> }
  locator(selector: string): Locator
  mouse: { down(): Promise<void>; move(x: number, y: number): Promise<void>; up(): Promise<void> }
  /** Requests to a matching URL get no response unless the handler gives one. */
  route(url: string, handler: () => void): Promise<unknown>
  setDefaultTimeout(ms: number): void
  on(event: 'console', listener: (message: { type(): string; text(): string }) => void): void
  on(event: 'pageerror', listener: (error: Error) => void): void
  on(event: 'request', listener: (request: { url(): string }) => void): void
  screenshot(options: { path: string; fullPage?: boolean }): Promise<unknown>
  title(): Promise<string>
  waitForURL(url: RegExp): Promise<void>
}

interface Browser {
  newContext(options: {
    viewport: { width: number; height: number }
    colorScheme: 'light' | 'dark'
    reducedMotion?: 'reduce'
  }): Promise<{ newPage(): Promise<Page> }>
  close(): Promise<void>
}

const chromium = findProgram('chromium')
const require = createRequire(import.meta.url)

/** Why tests in a browser are skipped; `undefined` if they can run. */
export const missingBrowser =
  chromium === undefined
    ? 'it is not installed (Debian: apt-get install chromium)'
    : existsSync(new URL('node_modules/playwright-core', import.meta.url))
      ? undefined
      : 'npm ci --prefix test/browser has not been run'

export function launchBrowser(): Promise<Browser> {
  const playwright: { chromium: { launch(options: object): Promise<Browser> } } = require('playwright-core')
  return playwright.chromium.launch({ executablePath: chromium, args: ['--no-sandbox'] })
}

/** Returns the source of axe-core, which runs in a page. */
export const axeSource = (): string => (require('axe-core') as { source: string }).source
