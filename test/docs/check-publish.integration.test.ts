import { expect, test } from 'vitest'
import { missingForPublish } from '../../scripts/check-publish.ts'

const complete = { repository: 'x', homepage: 'x', bugs: 'x' }

test('a package with all fields and an address may be published', () => {
  expect(missingForPublish(complete, '# S\n\n## Report\n\nWrite to security@partner.example.\n')).toEqual([])
  expect(missingForPublish(complete, '# S\n\n## Report\n\nSee https://partner.example/report.\n')).toEqual([])
})

test('publishing fails without a field or the address', () => {
  const security = '# S\n\n## Report\n\nPrivately.\n\n## Else\n\nhttps://partner.example\n'
  expect(missingForPublish({ ...complete, bugs: undefined }, security)).toEqual([
    'package.json has no "bugs"',
    'SECURITY.md has no address for reports (a URL or an e-mail address)',
  ])
})
