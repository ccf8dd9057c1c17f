/**
 * Guides come before the API reference, and programs and changes last. A symbol comes first for its exact name. VitePress
 * sends this function to the browser as text, so it uses nothing from outside.
 */
export const searchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
  boostDocument(id: string, term: string, stored?: { title?: string; titles?: string[] }): number {
    const name = stored?.title?.replace(/\(\)$/, '').toLowerCase()
    const titles = stored?.titles ?? []
    // A symbol has its own page, or is below its entry point and its kind. Deeper titles are members of types.
    const isSymbol = titles.length <= (titles[0]?.startsWith('campaign-client') ? 2 : 0)
    if (name === term.toLowerCase() && isSymbol) return 1
    if (id.startsWith('/reference/')) return 0.2
    return /^\/(?:examples\/|CHANGELOG)/.test(id) ? 0.3 : 1
  },
}

/** Renders a page for the search index. The words of `keywords` in its front matter find it, and are not shown. */
export function renderForSearch<Env extends { frontmatter?: Record<string, unknown>; isForSearch?: boolean }>(
  source: string,
  env: Env,
  md: { render(source: string, env: Env): string },
): string {
  env.isForSearch = true
  const html = md.render(source, env)
  if (env.frontmatter?.search === false) return ''
  const keywords = env.frontmatter?.keywords as string | undefined
  const weight = 12
  return keywords === undefined ? html : html.replace('</h1>', `</h1><p>${`${keywords} `.repeat(weight)}</p>`)
}
