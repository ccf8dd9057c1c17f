import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Application, TSConfigReader } from 'typedoc'
import { expect, onTestFinished, test } from 'vitest'
import { guideTo } from '../../docs/.vitepress/option-guides.ts'
import { missingDocs, shortenPage } from '../../docs/.vitepress/reference.ts'

/** Returns the problems of a module with this source. */
async function problemsOf(source: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'reference-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'tsconfig.json'), '{"include":["*.ts"]}')
  writeFileSync(join(folder, 'module.ts'), source)
  const app = await Application.bootstrap(
    {
      name: 'module',
      entryPoints: [join(folder, 'module.ts')],
      tsconfig: join(folder, 'tsconfig.json'),
      skipErrorChecking: true,
    },
    [new TSConfigReader()],
  )
  const project = await app.convert()
  return project ? missingDocs(project) : ['no project']
}

test('the reference reports members without a description, and functions without an example', async () => {
  const problems = await problemsOf(`
    /** Options. */
    export interface Options {
      /** Described. */
      readonly described: number
      readonly bare: number
      method(): void
      /** The fields of a literal need no description. */
      readonly nested: { readonly field: number }
    }
    export type Alias = { readonly field: number }
    /** Has no example. */
    export function first(): void {}
    /**
     * Has one.
     *
     * @example second()
     */
    export function second(): void {}
  `)
  expect(problems.sort()).toEqual([
    'Alias has no description',
    'Alias.field has no description',
    'Options.bare has no description',
    'Options.method has no description',
    'first has no @example',
  ])
})

test.each([
  ['TimeoutError', '"timeout"', '#timeout'],
  ['AwardRunStoppedError', '"award_run_stopped"', '#award_run_stopped'],
  ['ApiError', '"api_error"` \\| `"bad_request"', '#api_error'],
  ['WebhookError', '"missing_id"` \\| `"invalid_json"', ''],
])('the section of %s links to what to do', (name, code, anchor) => {
  const page = `## Classes\n\n### ${name}\n\nText.\n\n#### Properties\n\n> **code**: \`${code}\`\n\n### Other\n\n#### Methods\n`
  const link = `[What to do after this error](/error-codes${anchor})`
  expect(shortenPage(page)).toBe(page.replace('Text.\n\n', `Text.\n\n${link}\n\n`))
})

test.each([
  ['604 800 000 (7 days)', '`604 800 000` (7 days)'],
  ['31 536 000 000, which is 365 days', '`31 536 000 000`, which is 365 days'],
  ["'handle'", "`'handle'`"],
  ['no limit', 'no limit'],
])('the default %s is shown as %s', (value, shown) => {
  expect(shortenPage(`#### Default Value\n\n\`\`\`ts\n${value}\n\`\`\`\n`)).toContain(`Default: ${shown}\n`)
})

test('an index of the reference is a list', () => {
  const table = '| Class | Description |\n| ------ | ------ |\n| [A](A.md) | One \\| two. |\n| [B](B.md) | Three. |\n'
  expect(shortenPage(table)).toBe('- [A](A.md): One | two.\n- [B](B.md): Three.\n')
})

test('the reference links a member whose name has an underscore', () => {
  expect(shortenPage('[`hook_id`](WebhookOptions.md#hook-id)')).toBe('[`hook_id`](WebhookOptions.md#hook_id)')
})

test('the reference links sections of guides that comments name in words', () => {
  expect(shortenPage('See "POST /wallet/reward" and "Limits" in\ndocs/the-service.md.')).toBe(
    'See [POST /wallet/reward](/the-service#post-walletreward) and [Limits](/the-service#limits).',
  )
})

test('the reference lists the exports that another page describes', () => {
  const page =
    '## Functions\n\nText.\n\n## References\n\n### A\n\nRe-exports [A](a.md#a)\n\n### B\n\nRe-exports [B](b.md#b)\n'
  expect(shortenPage(page)).toBe('## Functions\n\nText.\n\nAlso exports [A](a.md#a), [B](b.md#b).\n\n')
})

test('an option links the section of the guide with its row, or the first guide', () => {
  expect(guideTo('leaseMs', ['webhooks', 'webhook-receiver'])).toBe('[Options](/webhook-receiver#options)')
  expect(guideTo('no-such-option', ['webhooks', 'webhook-receiver'])).toBe('[Webhooks](/webhooks)')
})
