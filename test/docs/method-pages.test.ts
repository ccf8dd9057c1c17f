import { expect, test } from 'vitest'
import { methodPages } from '../../scripts/method-pages.ts'
import { endpoints } from '../../src/endpoints/index.ts'

const pages = methodPages()

test('every method has a page', () => {
  expect([...pages.keys()]).toEqual(Object.keys(endpoints))
})

test.each([...pages])('the page of %s has every section, and no empty cell', (_name, page) => {
  for (const section of ['## The request', '## The result', '## Errors', '## Example\n\n```ts']) {
    expect(page).toContain(section)
  }
  // A field without a meaning, or an error without a condition, would leave a cell empty.
  expect(page).not.toMatch(/\| +\|/)
})
