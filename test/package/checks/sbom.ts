import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ComponentType } from '@cyclonedx/cyclonedx-library/Enums'
import { Bom, Component, LicenseRepository, SpdxLicense } from '@cyclonedx/cyclonedx-library/Models'
import { JSON as CycloneDxJson, JsonSerializer } from '@cyclonedx/cyclonedx-library/Serialize'
import { Spec1dot6 } from '@cyclonedx/cyclonedx-library/Spec'
import { ROOT } from '../packed-package.ts'
import type { PackageCheck } from './finding.ts'
import { bundledPackages } from './notices.ts'

export const SBOM = 'sbom.cdx.json'

/** Checks that the software bill of materials lists exactly the packages whose code is in the build. */
export const checkSbom: PackageCheck = {
  title: `${SBOM} lists every bundled package`,
  async run(packed) {
    const shipped = join(packed.directory, SBOM)
    const isCurrent = existsSync(shipped) && readFileSync(shipped, 'utf8') === sbom()
    return { problems: isCurrent ? [] : [`${SBOM} in the tarball is not up to date: run npm run generate`], notes: [] }
  },
}

/** Returns the text of the file: CycloneDX, without a serial number or time, so that equal builds have equal files. */
export function sbom(): string {
  const bom = new Bom()
  bom.metadata.component = componentOf(ROOT)
  for (const name of bundledPackages()) {
    const component = componentOf(join(ROOT, 'node_modules', name))
    bom.components.add(component)
    bom.metadata.component.dependencies.add(component.bomRef)
  }
  const serializer = new JsonSerializer(new CycloneDxJson.Normalize.Factory(Spec1dot6))
  return `${serializer.serialize(bom, { sortLists: true, space: 1 })}\n`
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
}

/** Describes the package in a folder. */
function componentOf(folder: string): Component {
  const { name, version, license }: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const [, group, ownName = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? []
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return new Component(ComponentType.Library, ownName, {
    ...(group && { group }),
    version,
    purl,
    bomRef: purl,
    licenses: new LicenseRepository([new SpdxLicense(license)]),
  })
}
