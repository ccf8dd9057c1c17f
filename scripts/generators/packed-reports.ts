import { apiReports } from '../../test/package/checks/api-report.ts'
import { NOTICES, notices } from '../../test/package/checks/notices.ts'
import { SBOM, sbom } from '../../test/package/checks/sbom.ts'
import { packPackage } from '../../test/package/packed-package.ts'
import type { Generator } from './generator.ts'

/** Builds the package. Writes the public API of each entry point and the licences and versions of bundled packages. */
export const packedReports: Generator = {
  name: 'packed-reports',
  async generate() {
    const packed = await packPackage()
    return new Map([...apiReports(packed), [NOTICES, notices()], [SBOM, sbom()]])
  },
}
