import { existsSync, readdirSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { anchorOf } from '../../docs/.vitepress/anchor.ts'
import { linkSections } from '../../docs/.vitepress/reference.ts'
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

test('every section of a guide that a comment in src names exists', () => {
  const links = sources.flatMap((file) => {
    const comments = read(file).replaceAll(/\s*\n\s*(?:\*|\/\/) /g, ' ')
    return [...linkSections(comments).matchAll(/\]\(\/([\w-]+)(#[\w-]+)\)/g)].map(([, page, anchor]) => ({
      file,
      link: `[](docs/${page}.md${anchor})`,
    }))
  })
  expect(links.length).toBeGreaterThan(60)
  expect(links.filter(({ link }) => deadLinks('README.md', link).length > 0)).toEqual([])
})

test('no comment in src has a link that an editor cannot open', () => {
  expect(sources.filter((file) => /\]\((?:\/|\.)/.test(read(file)))).toEqual([])
})

test('a broken link is detected', () => {
  expect(deadLinks('README.md', '[a](docs/none.md) [b](docs/tokens.md#none) [c](#none)')).toHaveLength(3)
})
