import { readFileSync } from 'node:fs'
import { CampaignError } from 'campaign-client'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { pathTo } from '../../scripts/repository.ts'
import { ERROR_CODES } from '../../src/errors/any-campaign-error.ts'
import { constants } from '../../tsup.config.ts'

const codes = ERROR_CODES

const page = readFileSync(pathTo('docs/error-codes.md'), 'utf8')

test('the page of error codes has one section for each code', () => {
  const headings = [...page.matchAll(/^### (.+)$/gm)].map(([, code]) => code)
  expect([...headings].sort()).toEqual([...codes].sort())
})

test('every section says what to do', () => {
  for (const section of page.split(/^### /m).slice(1)) expect(section).toMatch(/^\*\*Do:\*\* /m)
})

test.each(codes)('an error with the code %s links to its section of the page', (code) => {
  const { docsPath } = new CampaignError('a message', { code })
  const [file = '', anchor = ''] = docsPath.split('#')
  expect(readFileSync(pathTo(file), 'utf8')).toContain(`\n### ${anchor}\n`)
})

test.each([
  [undefined, 'docs/error-codes.md#timeout'],
  ['https://docs.example', 'https://docs.example/error-codes#timeout'],
  ['https://docs.example/client/', 'https://docs.example/client/error-codes#timeout'],
])('a package with the homepage %s has errors that link to %s', async (homepage, link) => {
  const { outputFiles } = await build({
    entryPoints: [pathTo('src/errors/campaign-error.ts')],
    define: constants(homepage),
    format: 'esm',
    write: false,
  })
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')
  const built = await import(/* @vite-ignore */ `data:text/javascript;base64,${code}`)
  expect(new built.CampaignError('a message', { code: 'timeout' }).docsPath).toBe(link)
})
