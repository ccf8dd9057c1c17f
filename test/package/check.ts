import { checkApiReport } from './checks/api-report.ts'
import { checkCommand } from './checks/command.ts'
import { checkEntryPoints } from './checks/entry-points.ts'
import type { PackageCheck } from './checks/finding.ts'
import { checkLinks } from './checks/links.ts'
import { checkNotices } from './checks/notices.ts'
import { checkSbom } from './checks/sbom.ts'
import { checkSizes } from './checks/sizes.ts'
import { attw, publint } from './checks/tools.ts'
import { packPackage } from './packed-package.ts'

/** The checks of the packed tarball: `npm run check:package`. */
const checks: readonly PackageCheck[] = [
  publint,
  attw,
  checkEntryPoints,
  checkCommand,
  checkLinks,
  checkNotices,
  checkSbom,
  checkApiReport,
  checkSizes,
]

if (process.argv.length > 2) {
  console.error('check:package takes no arguments')
  process.exit(2)
}
const packed = await packPackage()
let failed = 0
for (const check of checks) {
  const { problems, notes } = await check
    .run(packed)
    .catch((error: unknown) => ({ problems: [String(error instanceof Error ? error.stack : error)], notes: [] }))
  console.log(`${problems.length === 0 ? 'ok    ' : 'FAILED'} ${check.title}`)
  for (const line of [...notes, ...problems]) console.log(line.replace(/^/gm, '         '))
  if (problems.length > 0) failed++
}
console.log(failed === 0 ? `${checks.length} checks passed` : `${failed} of ${checks.length} checks failed`)
process.exitCode = failed === 0 ? 0 : 1
