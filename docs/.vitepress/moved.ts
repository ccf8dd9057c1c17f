import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The new addresses of pages that are part of another page. Other sites link to the old addresses. */
export const MOVED: Readonly<Record<string, string>> = {
  'award-ids': 'bulk-awards#award-ids',
  'command/call': 'command#call',
  'command/types': 'command#types',
  'recipes/lambda': 'webhook-frameworks#lambda',
  'recipes/nest': 'webhook-frameworks#nest',
  'recipes/nightly-check': 'check#every-night',
  'recipes/one-machine': 'webhook-stores#sqlite',
  'recipes/replay': 'recipes/queue#replay-after-a-faulty-handler',
  'recipes/testing-in-ci': 'testing#in-ci',
  'recipes/workers': 'webhook-frameworks#workers',
  'runtimes-and-frameworks': 'support#runtimes',
  'test-runners': 'testing#fake-timers',
}

/** Writes a page at each old address, which leads to the new one. */
export function writeMoved(outDir: string): void {
  for (const [from, to] of Object.entries(MOVED)) {
    const file = join(outDir, `${from}.html`)
    const href = `${'../'.repeat(from.split('/').length - 1)}${to}`
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(
      file,
      `<!doctype html><title>Moved</title><meta http-equiv="refresh" content="0; url=${href}"><a href="${href}">This page has moved</a>\n`,
    )
  }
}
