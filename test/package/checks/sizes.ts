import { statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Platform } from 'esbuild'
import { withInstalledProject } from '../installed-project.ts'
import type { PackageCheck } from './finding.ts'

interface BundleBudget {
  readonly name: string
  readonly code: string
  readonly platform: Platform
  /** The maximum size in kB of 1 000 bytes, minified and gzipped, with dependencies. */
  readonly limit: number
}

export const BUNDLES: readonly BundleBudget[] = [
  {
    name: 'the whole client',
    code: "export { CampaignClient } from 'campaign-client'",
    platform: 'browser',
    limit: 36,
  },
  {
    name: 'verifyWebhook, node',
    code: "export { verifyWebhook } from 'campaign-client/webhook'",
    platform: 'node',
    limit: 1.5,
  },
  {
    name: 'verifyWebhook, portable',
    code: "export { verifyWebhook } from 'campaign-client/webhook'",
    platform: 'browser',
    limit: 4.5,
  },
  { name: './schemas', code: "export * from 'campaign-client/schemas'", platform: 'browser', limit: 9 },
]

/** Limits of the tarball and of the installed package, in kB. */
const PACKED_LIMIT = 850
const UNPACKED_LIMIT = 3_000

/** Checks the sizes of bundles, the tarball and the installed package. */
export const checkSizes: PackageCheck = {
  title: 'sizes are within their limits',
  async run(packed) {
    const problems: string[] = []
    const notes: string[] = []
    const checkSize = (name: string, bytes: number, limit: number) => {
      const line = `${name}: ${(bytes / 1000).toFixed(bytes < 100_000 ? 2 : 0)} kB of ${limit} kB`
      if (bytes > limit * 1000) problems.push(`${line}: too large`)
      else notes.push(line)
    }
    await withInstalledProject(packed, async (project) => {
      for (const { name, code, platform, limit } of BUNDLES) {
        checkSize(`${name}, min+gzip`, await bundleSize(code, platform, project), limit)
      }
    })
    checkSize('tarball', statSync(packed.tarball).size, PACKED_LIMIT)
    const unpacked = packed.files.reduce((sum, file) => sum + statSync(join(packed.directory, file)).size, 0)
    checkSize('installed, without zod', unpacked, UNPACKED_LIMIT)
    return { problems, notes }
  },
}

async function bundleSize(code: string, platform: Platform, project: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: project },
    absWorkingDir: project,
    tsconfigRaw: {},
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    platform,
  })
  const [file] = outputFiles
  if (file === undefined) throw new Error('esbuild wrote nothing')
  return gzipSync(file.contents, { level: 9 }).length
}
