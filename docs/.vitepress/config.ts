import { copyFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { defineConfig, type MarkdownRenderer } from 'vitepress'
import llmsTxt from 'vitepress-plugin-llms'
import { anchorOf } from './anchor.ts'
import { searchOptions } from './search.ts'
import { guides, sidebar } from './sidebar.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** The page of a file of the repository: README.md is the first page, and `docs` the root of the others. */
const pageOf = (file: string): string => (file === 'README.md' ? 'index.md' : file.replace(/^docs\//, ''))

/**
 * Turns relative links, which also work in the repository and in the package, into addresses of the site.
 */
function linkToPages(md: MarkdownRenderer): void {
  md.core.ruler.push('link-to-pages', ({ tokens, env }) => {
    const folder = dirname(relative(ROOT, env.realPath ?? env.path ?? ''))
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
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
  markdown: {
    anchor: { slugify: anchorOf },
    config: linkToPages,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    nav: [
      { text: 'Guide', link: '/getting-started' },
      { text: 'API', link: '/reference/' },
      { text: 'OpenAPI', link: '/openapi.json', target: '_blank' },
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
