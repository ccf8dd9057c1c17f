import { copyFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { defineConfig, type MarkdownRenderer } from 'vitepress'
import llmsTxt from 'vitepress-plugin-llms'
import packageJson from '../../package.json' with { type: 'json' }
import { anchorOf } from './anchor.ts'
import { searchOptions } from './search.ts'
import { guides, sidebar } from './sidebar.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** The page of a file of the repository: README.md is the first page, and `docs` the root of the others. */
const pageOf = (file: string): string => (file === 'README.md' ? 'index.md' : file.replace(/^docs\//, ''))

/** Turns relative links into addresses of the site, and marks short code, which style.css keeps on one line. */
function adaptInlineTokens(md: MarkdownRenderer): void {
  md.core.ruler.push('adapt-inline-tokens', ({ tokens, env }) => {
    const folder = dirname(relative(ROOT, env.realPath ?? env.path ?? ''))
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === 'code_inline' && /^(?:\S+|.{1,25})$/.test(token.content)) token.attrSet('class', 'unbroken')
      const [, path, anchor = ''] = /^(?!\w+:|\/)([^#]+)(#.*)?$/.exec(token.attrGet('href') ?? '') ?? []
      if (path === undefined) continue
      const file = join(folder, path)
      token.attrSet('href', `/${pageOf(file).replace(/(?:\bindex)?\.(?:md|ts)$/, '')}${anchor}`)
    }
  })
}

export default defineConfig({
  title: 'campaign-client',
  description: 'TypeScript client, webhook receiver and local service for the campaign engagement service',
  srcDir: '..',
  srcExclude: [
    '{.*,bench,coverage,dist,examples,reports,scripts,src,test}/**',
    'docs/{site/**,design.md,benchmarks.md}',
    '{AGENTS,CONTRIBUTING,THIRD-PARTY-NOTICES}.md',
  ],
  rewrites: pageOf,
  outDir: './site',
  cacheDir: '../node_modules/.cache/vitepress',
  metaChunk: true,
  // These pages are not in the sidebar, from which VitePress takes the previous and the next page.
  transformPageData: ({ relativePath, frontmatter }) =>
    void (/^(?:reference|examples)\//.test(relativePath) && Object.assign(frontmatter, { prev: false, next: false })),
  markdown: {
    anchor: { slugify: anchorOf },
    config: adaptInlineTokens,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    nav: [
      { text: 'Guide', link: '/getting-started' },
      { text: 'API', link: '/reference/' },
      { text: 'OpenAPI', link: '/openapi.json', target: '_blank' },
      { text: packageJson.version, link: '/CHANGELOG' },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: 'local', options: { miniSearch: { searchOptions } } },
  },
  vite: {
    plugins: [
      llmsTxt({
        sidebar: guides,
        excludeUnnecessaryFiles: false,
        ignoreFilesPerOutput: { llmsTxt: ['reference/*/**'], llmsFullTxt: ['reference/**', 'examples/**'] },
      }),
    ],
  },
  buildEnd: ({ outDir }) => copyFileSync(join(ROOT, 'docs/openapi.json'), join(outDir, 'openapi.json')),
})
