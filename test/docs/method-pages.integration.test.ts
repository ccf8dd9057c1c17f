import { expect, test } from 'vitest'
import { methodPages } from '../../scripts/generators/method-pages.ts'
import { endpoints } from '../../src/endpoints/index.ts'

const pages = await methodPages()

test('every method has a page', () => {
  expect([...pages.keys()]).toEqual(Object.keys(endpoints))
})

test.each([...pages])('the page of %s has all sections in order, and no empty table cell', (_name, page) => {
  const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
  expect(headings).toEqual(['Request', 'Example', 'curl'])
  // A field without a description would leave a cell empty.
  expect(page).not.toMatch(/\| +\|/)
})
