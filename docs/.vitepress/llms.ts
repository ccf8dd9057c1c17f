import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DefaultTheme, SiteConfig } from 'vitepress'
import { descriptionOf } from './description.ts'
import { pageOf, targetOf } from './links.ts'
import { guides } from './sidebar.ts'

/** Writes each page as Markdown, `llms.txt` with a line for each page, and `llms-full.txt` with all guides. */
export function writeMarkdown({ srcDir, outDir, pages, dynamicRoutes, site }: SiteConfig): void {
  const texts = new Map<string, string>()
  for (const file of pages) {
    const route = dynamicRoutes.routes.find(({ path }) => path === file)
    const source = route?.content ?? readFileSync(join(srcDir, file), 'utf8')
    texts.set(pageOf(file), withSiteLinks(file, source.replace(/^---\n[\s\S]*?\n---\n+/, '')))
  }
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(outDir, path)), { recursive: true })
    writeFileSync(join(outDir, path), text)
  }
  for (const [page, text] of texts) write(page, text)

  const line = (page: string): string => {
    const text = texts.get(page) ?? ''
    const [, title = page] = /^# (.+)$/m.exec(text) ?? []
    return `- [${title.replaceAll('\\', '')}](/${page}): ${descriptionOf(text) ?? title}\n`
  }
  const sections = guides.map(({ text, items }) => [`## ${text}`, pagesOf(items)] as const)
  const rest = (folder: string): string[] => [...texts.keys()].filter((page) => page.startsWith(folder)).sort()
  const groups = [
    ...sections,
    ['## Programs', rest('examples/')] as const,
    ['## API reference', rest('reference/')] as const,
  ]
  const list = groups.map(([heading, group]) => `${heading}\n\n${group.map(line).join('')}`)
  write('llms.txt', `# ${site.title}\n\n> ${site.description}\n\n${list.join('\n')}`)
  const full = sections.flatMap(([, group]) => group).map((page) => texts.get(page))
  write('llms-full.txt', full.join('\n\n'))
}

/** The pages of a sidebar, except the API reference. */
const pagesOf = (items: readonly DefaultTheme.SidebarItem[] = []): string[] =>
  items.flatMap(({ link = '', items: below }) => [
    ...(link.endsWith('/') ? [] : [`${link.slice(1)}.md`]),
    ...pagesOf(below),
  ])

/** Turns the links of a page into addresses of Markdown pages. Code stays as it is. */
const withSiteLinks = (file: string, markdown: string): string =>
  markdown
    .split(/^(```[\s\S]*?^```)$/m)
    .map((text, index) =>
      index % 2 === 1
        ? text
        : text.replaceAll(/\]\(([^)\s]+)\)/g, (link, href: string) => {
            const { page, anchor } = targetOf(file, href) ?? {}
            if (page === undefined) return link
            const path = page.replace(/\.ts$/, '.md').replace(/(^|\/)$/, '$1index.md')
            return `](/${/\.\w+$/.test(path) ? path : `${path}.md`}${anchor})`
          }),
    )
    .join('')
