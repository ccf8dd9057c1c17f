import { expect, test } from 'vitest'
import { read } from '../../scripts/repository.ts'

const { version } = JSON.parse(read('package.json')) as { version: string }
const minor = version.replace(/\.\d+$/, '')

test('the top entry of the changelog is the version of the package, with a date', () => {
  const [, top] = /^## (\S+) \(\d{4}-\d{2}-\d{2}\)$/m.exec(read('CHANGELOG.md').match(/^## .+$/m)?.[0] ?? '') ?? []
  expect(top).toBe(version)
})

test('the lock file, Security and Upgrading name the version of the package', () => {
  expect(JSON.parse(read('package-lock.json'))).toMatchObject({ version, packages: { '': { version } } })
  expect(read('SECURITY.md')).toContain(`| newest minor version (${minor}.x) | yes |`)
  expect(read('docs/upgrading.md').match(/^## From .+ to (.+)$/m)?.[1]).toBe(minor)
})
