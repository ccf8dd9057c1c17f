import { readFileSync } from 'node:fs'
import type { LeaseErrorCode, WebhookErrorCode } from 'campaign-client'
import { expect, test } from 'vitest'
import { entryPoints } from '../../scripts/entry-points.ts'
import { CampaignError } from '../../src/errors.ts'
import { rootPath } from './snippet.ts'

/** The classes with more than one code. The compiler asks for a code that is missing here. */
const codesOfMany: Readonly<Record<WebhookErrorCode | LeaseErrorCode, string>> = {
  missing_signature: 'WebhookError',
  malformed_signature: 'WebhookError',
  signature_mismatch: 'WebhookError',
  body_not_raw: 'WebhookError',
  invalid_utf8: 'WebhookError',
  invalid_json: 'WebhookError',
  missing_id: 'WebhookError',
  lease_lost: 'LeaseError',
  run_time_exceeded: 'LeaseError',
  receiver_closed: 'LeaseError',
}

type ErrorClass = new (message: string, init: object) => CampaignError

/** Every error class that a partner can import. */
async function errorClasses(): Promise<[string, ErrorClass][]> {
  const classes = new Map<string, ErrorClass>()
  for (const { source } of entryPoints) {
    for (const [name, value] of Object.entries(await import(rootPath(source)))) {
      if (isErrorClass(value)) classes.set(name, value)
    }
  }
  return [...classes]
}

function isErrorClass(value: unknown): value is ErrorClass {
  for (let type = value; typeof type === 'function'; type = Object.getPrototypeOf(type)) {
    if (type === CampaignError) return value !== CampaignError
  }
  return false
}

/** What the constructors ask for, all of them together. */
const init = { status: 500, headers: {}, issues: [], scope: 'total', timeoutMs: 1, reason: 'a reason', report: {} }

const headings = [...readFileSync(rootPath('docs/error-codes.md'), 'utf8').matchAll(/^### (.+)$/gm)].map(
  ([, code]) => code,
)

test('the page of error codes has every code of every class that can be imported, and no other', {
  timeout: 60_000,
}, async () => {
  const many = new Set(Object.values(codesOfMany))
  const classes = await errorClasses()
  expect(classes.length).toBeGreaterThan(14)
  const codesOfOne = classes.filter(([name]) => !many.has(name)).map(([, Class]) => new Class('a message', init).code)
  expect([...headings].sort()).toEqual([...codesOfOne, ...Object.keys(codesOfMany)].sort())
})

test('every section says what to do', () => {
  const page = readFileSync(rootPath('docs/error-codes.md'), 'utf8')
  for (const section of page.split(/^### /m).slice(1)) expect(section).toMatch(/^- \*\*Do:\*\* /m)
})
