import { existsSync, readdirSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { anchorOf } from '../../docs/.vitepress/anchor.ts'
import { pathTo, read } from '../../scripts/repository.ts'
import { pages } from './samples.ts'

const sources = readdirSync(pathTo('src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => `src/${file.replaceAll('\\', '/')}`)

const withoutCode = (text: string): string => text.replaceAll(/^```[\s\S]*?^```$/gm, '')
const anchorsOf = (page: string): string[] =>
  [...withoutCode(read(page)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))

/** Returns the relative links of a text to missing files or headings. */
function deadLinks(path: string, text: string): string[] {
  const links = [...withoutCode(text).matchAll(/\]\((?!\w+:|\/)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
  return links.flatMap(([, target = '', anchor]) => {
    const file = target === '' ? path : posix.join(posix.dirname(path), target)
    const dead = !existsSync(pathTo(file)) || (anchor !== undefined && !anchorsOf(file).includes(anchor))
    return dead ? [`${path}: ${target}#${anchor ?? ''}`] : []
  })
}

test('every link of README and docs leads to a file and a heading', () => {
  expect(pages.flatMap((page) => deadLinks(page, read(page)))).toEqual([])
})

/** Converts addresses of the site (`/tokens#secrets`) to relative paths. */
const fromSite = (file: string, links: string): string =>
  links.replaceAll(/\]\(\/([\w/-]+)/g, (_, page) => `](${posix.relative(posix.dirname(file), `docs/${page}.md`)}`)

test('every link of a comment in src leads to a page and a heading', () => {
  const comments = sources.map(
    (file) => [file, [...read(file).matchAll(/\]\((?:[./]+docs\/|\/)[\w/.#-]+\)/g)].join('\n')] as const,
  )
  expect(comments.flatMap(([file, links]) => deadLinks(file, fromSite(file, links)))).toEqual([])
  expect(comments.filter(([, links]) => links !== '').length).toBeGreaterThan(10)
})

test('a broken link is detected', () => {
  expect(deadLinks('README.md', '[a](docs/none.md) [b](docs/tokens.md#none) [c](#none)')).toHaveLength(3)
})
