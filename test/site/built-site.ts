import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { promisify } from 'node:util'
import { rootPath } from '../docs/snippet.ts'
import { type PageFacts, readPage } from './page-facts.ts'

/** The reference, built into a folder of its own. */
export interface BuiltSite {
  readonly folder: string
  /** Every page by its path below the folder. */
  readonly pages: ReadonlyMap<string, PageFacts>
  /** The path of every other file. */
  readonly files: ReadonlySet<string>
  remove(): void
}

export async function buildSite(): Promise<BuiltSite> {
  const folder = mkdtempSync(join(tmpdir(), 'campaign-client-site-'))
  await promisify(execFile)('npm', ['run', '--silent', 'docs', '--', '--out', folder], { cwd: rootPath('.') })
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/'))
  return {
    folder,
    pages: new Map(
      files
        .filter((path) => path.endsWith('.html'))
        .map((path) => [path, readPage(readFileSync(join(folder, path), 'utf8'))]),
    ),
    files: new Set(files.filter((path) => !path.endsWith('.html'))),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** What is wrong with a link that stands on the page at `from`; `undefined` for one that leads somewhere, or off the site. */
export function deadLink({ pages, files }: BuiltSite, from: string, link: string): string | undefined {
  if (/^(?:https?|mailto|data):/.test(link)) return undefined
  const [path = '', anchor = ''] = link.split('#').map(decodeURIComponent)
  const target = path === '' ? from : posix.join(posix.dirname(from), path)
  const page = pages.get(target)
  if (page === undefined) return files.has(target) ? undefined : `${from}: there is no ${target}`
  return anchor === '' || page.ids.has(anchor) ? undefined : `${from}: there is no #${anchor} on ${target}`
}
