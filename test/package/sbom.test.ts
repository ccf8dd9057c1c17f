import { expect, test } from 'vitest'
import { read } from '../../scripts/repository.ts'

interface Component {
  readonly group?: string
  readonly name: string
  readonly version: string
  readonly licenses: readonly { readonly license: { readonly id: string } }[]
  readonly purl: string
}

const sbom = JSON.parse(read('sbom.cdx.json'))
const components: readonly Component[] = sbom.components

test('sbom.cdx.json lists the packages, versions and licences of THIRD-PARTY-NOTICES.md', () => {
  const listed = components.map(({ group, name, version, licenses }) => {
    const full = group === undefined ? name : `${group}/${name}`
    return `${full} ${version} (${licenses.map(({ license }) => license.id).join(' ')})`
  })
  const notices = [...read('THIRD-PARTY-NOTICES.md').matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
  expect(notices.length).toBeGreaterThan(10)
  expect(listed.toSorted()).toEqual(notices.toSorted())
})

test('sbom.cdx.json is a CycloneDX document of this version, with a package URL for each package', () => {
  const { version } = JSON.parse(read('package.json'))
  expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'campaign-client', version } } })
  expect(components.map(({ purl }) => purl)).toContainEqual(expect.stringMatching(/^pkg:npm\/%40noble\/hashes@\d/))
  expect(new Set(components.map(({ purl }) => purl)).size).toBe(components.length)
})

test('sbom.cdx.json has nothing that changes with each build', () => {
  expect(sbom).not.toHaveProperty('serialNumber')
  expect(sbom.metadata).not.toHaveProperty('timestamp')
})
