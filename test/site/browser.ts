import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { findProgram } from '../machine/server-process.ts'

// Only what is used of playwright-core, which is installed in this folder and not for the project.

export interface Locator {
  click(): Promise<void>
  fill(text: string): Promise<void>
  first(): Locator
  isVisible(): Promise<boolean>
  selectOption(value: string): Promise<unknown>
  textContent(): Promise<string | null>
  waitFor(): Promise<void>
}

export interface Page {
  close(): Promise<void>
  evaluate<Result>(script: string): Promise<Result>
  goto(url: string): Promise<unknown>
  keyboard: { press(key: string): Promise<void> }
  locator(selector: string): Locator
  on(event: 'console', listener: (message: { type(): string; text(): string }) => void): void
  on(event: 'pageerror', listener: (error: Error) => void): void
  on(event: 'request', listener: (request: { url(): string }) => void): void
  screenshot(options: { path: string; fullPage?: boolean }): Promise<unknown>
  title(): Promise<string>
  url(): string
  waitForURL(url: RegExp): Promise<void>
}

interface Browser {
  newContext(options: {
    viewport: { width: number; height: number }
    colorScheme: 'light' | 'dark'
  }): Promise<{ newPage(): Promise<Page> }>
  close(): Promise<void>
}

const chromium = findProgram('chromium')
const require = createRequire(import.meta.url)

/** Why there is no browser; `undefined` when there is one. */
export const missingBrowser =
  chromium === undefined
    ? 'it is not installed (Debian: apt-get install chromium)'
    : existsSync(new URL('node_modules/playwright-core', import.meta.url))
      ? undefined
      : 'npm ci --prefix test/site has not been run'

export function launchBrowser(): Promise<Browser> {
  const playwright: { chromium: { launch(options: object): Promise<Browser> } } = require('playwright-core')
  return playwright.chromium.launch({ executablePath: chromium, args: ['--no-sandbox'] })
}
