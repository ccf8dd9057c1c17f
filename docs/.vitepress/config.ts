import { copyFileSync, cpSync, existsSync, readFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { defineConfig, type HeadConfig, type MarkdownRenderer, type PageData } from 'vitepress'
import { anchorOf } from './anchor.ts'
import { descriptionOf } from './description.ts'
import { pageOf, targetOf } from './links.ts'
import { writeMarkdown } from './llms.ts'
import { writeMoved } from './moved.ts'
import { completePrograms } from './programs.ts'
import { renderForSearch, searchOptions } from './search.ts'
import { sidebar } from './sidebar.ts'

const ROOT = resolve(import.meta.dirname, '../..')

interface Manifest {
  readonly version: string
  readonly homepage?: string
  readonly repository?: { readonly url: string }
}
const { version, homepage, repository }: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const mark = `data:image/svg+xml,${encodeURIComponent(readFileSync(join(import.meta.dirname, 'theme/icon.svg'), 'utf8'))}`
const repositoryUrl = repository?.url.replace(/^git\+|\.git$/g, '')

/** A space before a unit or three more digits. */
const SPACE_IN_NUMBER = /(?<=\d) (?=(?:\d{3}|ms|s|kB|MB|MiB|XP)\b|%)/g

/**
 * Turns relative links into addresses of the site, and keeps numbers and short code on one line (code by style.css).
 * A phone shows up to 36 characters on a line of a list.
 */
function adaptInlineTokens(md: MarkdownRenderer): void {
  md.core.ruler.push('adapt-inline-tokens', ({ tokens, env }) => {
    const file = relative(ROOT, env.realPath ?? env.path ?? '')
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === 'text') token.content = token.content.replaceAll(SPACE_IN_NUMBER, '\u00a0')
      if (token.type === 'code_inline' && /^(?:\S{1,36}|.{1,25})$/.test(token.content))
        token.attrSet('class', 'unbroken')
      const href = token.attrGet('href') ?? ''
      const target = href.startsWith('/') ? undefined : targetOf(file, href)
      if (target === undefined || target.page.endsWith('.webp')) continue
      token.attrSet('href', `/${target.page.replace(/(?:\bindex)?\.(?:md|ts)$/, '')}${target.anchor}`)
    }
  })
}

/** Names the column of each table cell, for the lists that style.css makes of wide tables on phones. */
function labelCells(md: MarkdownRenderer): void {
  md.core.ruler.push('label-cells', ({ tokens }) => {
    let heads: string[] = []
    let column = 0
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'thead_open') heads = []
      if (token.type === 'th_open') heads.push((tokens[index + 1]?.content ?? '').replaceAll('`', ''))
      if (token.type === 'tr_open') column = 0
      if (token.type === 'td_open') token.attrSet('data-label', heads[column++] ?? '')
    }
  })
}

/** Puts a drawing into the page, so that it has the colours of the theme. Its text is for readers who do not see it. */
function inlineDrawings(md: MarkdownRenderer): void {
  const renderImage = md.renderer.rules.image
  md.renderer.rules.image = (tokens, index, options, env, self) => {
    const { content = '' } = tokens[index] ?? {}
    const [, name] = /pictures\/(\w+\.svg)$/.exec(tokens[index]?.attrGet('src') ?? '') ?? []
    if (name === undefined) return renderImage?.(tokens, index, options, env, self) ?? ''
    const label = md.utils.escapeHtml(content.replaceAll(/\s+/g, ' '))
    return readFileSync(join(ROOT, 'docs/pictures', name), 'utf8')
      .replace(/ style="[^"]+"/, ` role="img" aria-label="${label}" class="drawing"`)
      .trim()
  }
}

/** The Markdown of a page. The pages of programs are made from a template and have no own file. */
function sourceOf({ filePath }: PageData): string {
  const file = join(ROOT, filePath)
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** The title and the description that other sites show, and the picture as soon as the site has an address. */
function socialTags({ title, description, relativePath }: PageData): HeadConfig[] {
  const tags = {
    'og:type': 'website',
    'og:site_name': 'campaign-client',
    'og:title': title,
    'og:description': description,
  }
  const path = relativePath.replace(/(?:^|\/)index\.md$|\.md$/, '')
  const address = homepage && {
    'og:url': new URL(path, homepage).href,
    'og:image': new URL('pictures/console-light.webp', homepage).href,
  }
  return Object.entries({ ...tags, ...address }).map(([property, content]) => ['meta', { property, content }])
}

export default defineConfig({
  title: 'campaign-client',
  description: 'TypeScript client, webhook receiver and local service for the campaign engagement service',
  lang: 'en',
  head: [['link', { rel: 'icon', href: mark }]],
  srcDir: '..',
  srcExclude: [
    '{.*,bench,coverage,dist,examples,reports,scripts,src,test}/**',
    'docs/{site/**,design.md}',
    '{AGENTS,CONTRIBUTING,README,THIRD-PARTY-NOTICES}.md',
  ],
  rewrites: pageOf,
  outDir: './site',
  cacheDir: '../node_modules/.cache/vitepress',
  cleanUrls: true,
  metaChunk: true,
  ...(homepage && { sitemap: { hostname: homepage } }),
  lastUpdated: repositoryUrl !== undefined,
  transformPageData(page) {
    page.description ||= descriptionOf(sourceOf(page)) ?? page.params?.description ?? ''
    // The pages of programs and of the API reference are generated.
    if (/^(?:examples|reference)\//.test(page.relativePath)) page.frontmatter.editLink = false
    page.frontmatter.head = [...(page.frontmatter.head ?? []), ...socialTags(page)]
    // Programs are not in the sidebar, from which VitePress takes the previous and the next page.
    if (page.relativePath.startsWith('examples/')) {
      page.frontmatter.prev = { text: 'Recipes', link: '/recipes' }
      page.frontmatter.next = false
    }
  },
  markdown: {
    anchor: { slugify: anchorOf },
    config(md) {
      adaptInlineTokens(md)
      labelCells(md)
      completePrograms(md)
      inlineDrawings(md)
    },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    logo: mark,
    nav: [
      { text: 'Guide', link: '/getting-started' },
      { text: 'API', link: '/reference/' },
      { text: 'OpenAPI', link: '/openapi.json', target: '_blank' },
      { text: version, link: '/CHANGELOG' },
    ],
    sidebar,
    outline: [2, 3],
    ...(repositoryUrl !== undefined && {
      editLink: { pattern: `${repositoryUrl}/edit/main/:path`, text: 'Edit this page' },
      socialLinks: [{ icon: 'github', link: repositoryUrl }],
    }),
    search: {
      provider: 'local',
      options: { detailedView: true, miniSearch: { searchOptions }, _render: renderForSearch },
    },
  },
  buildEnd(site) {
    const { outDir } = site
    writeMarkdown(site)
    writeMoved(outDir)
    for (const name of [
      'docs/openapi.json',
      'docs/local-service.openapi.json',
      'docs/local-service.seed.schema.json',
      'docs/webhook-vectors.json',
      'sbom.cdx.json',
    ]) {
      copyFileSync(join(ROOT, name), join(outDir, basename(name)))
    }
    cpSync(join(ROOT, 'docs/pictures'), join(outDir, 'pictures'), { recursive: true })
  },
})
