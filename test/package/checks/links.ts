import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import type { PackageCheck } from './finding.ts'

const LINK = /\]\((?!\w+:|#)([^)\s#]+)[^)]*\)|<(?:img|a) [^>]*(?:src|href)="(?!\w+:|#)([^"#]+)/g

/** Checks that the links of each page work in the installed package. */
export const checkLinks: PackageCheck = {
  title: 'links: every link on a page in the tarball leads to a file in the tarball',
  async run({ files, directory }) {
    const problems: string[] = []
    const pages = files.filter((file) => file.endsWith('.md'))
    let links = 0
    for (const page of pages) {
      const text = readFileSync(join(directory, page), 'utf8').replace(/^ *```[\s\S]*?^ *```$/gm, '')
      for (const [, inText, inTag] of text.matchAll(LINK)) {
        const target = normalize(join(dirname(page), inText ?? inTag ?? ''))
        if (target.startsWith('..') || !existsSync(join(directory, target))) {
          problems.push(`${page} links to ${target}, which is not in the tarball`)
        }
        links++
      }
    }
    if (links === 0) problems.push('no page has a link')
    return { problems, notes: [`${links} links on ${pages.length} pages`] }
  },
}
