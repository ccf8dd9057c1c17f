import { expect, test } from 'vitest'
import { methodPages } from '../../docs/build/method-pages.ts'
import { endpoints } from '../../src/endpoints/index.ts'
import { rootPath } from './snippet.ts'

const pages = methodPages()

test('every method has a page', () => {
  expect([...pages.keys()]).toEqual(Object.keys(endpoints))
})

test.each([...pages])('the page of %s is what its comments say (vitest -u writes it anew)', async (name, page) => {
  for (const section of ['## The request', '## The result', '## Errors', '## Example\n\n```ts']) {
    expect(page).toContain(section)
  }
  // A field without a meaning, or an error without a condition, would leave a cell empty.
  expect(page).not.toMatch(/\| +\|/)
  await expect(page).toMatchFileSnapshot(rootPath(`docs/methods/${name}.md`))
})
