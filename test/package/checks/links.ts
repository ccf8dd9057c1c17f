import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import type { PackageCheck } from './finding.ts'

const LINK = /\]\((?!\w+:|#)([^)\s#]+)[^)]*\)|<(?:img|a) [^>]*(?:src|href)="(?!\w+:|#)([^"#]+)/g

/** In declarations brackets and parentheses are code as well: a link to a page goes up first. */
const LINK_OF_COMMENT = /\]\((\.\.\/[^)\s#]+)[^)]*\)/g

/** Whoever reads the package where it is installed can follow the links of its pages, and of its declarations. */
export const checkLinks: PackageCheck = {
  title: 'links: those of every page and declaration in the tarball lead to a file in it',
  async run({ files, directory }) {
    const problems: string[] = []
    const pages = files.filter((file) => /\.(?:md|d\.c?ts)$/.test(file))
    let links = 0
    for (const page of pages) {
      const text = readFileSync(join(directory, page), 'utf8').replace(/^ *```[\s\S]*?^ *```$/gm, '')
      for (const [, inText, inTag] of text.matchAll(page.endsWith('.md') ? LINK : LINK_OF_COMMENT)) {
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
