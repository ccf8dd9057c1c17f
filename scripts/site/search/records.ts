import { type AnyNode, type Element, isTag, isText } from 'domhandler'
import { DomUtils } from 'htmlparser2'
import { type PageEvent, type Reflection, ReflectionKind } from 'typedoc'
import { kindOf, sourceOf } from '../theme/source.ts'
import type { SearchRecord } from './record.ts'

/** Who asks something in words wants a guide; who knows a name types the name, which counts by itself. */
const WEIGHTS: readonly (readonly [path: RegExp, kind: string, weight: number])[] = [
  [/^docs\/(?:benchmarks|design|open-questions)\.md$/, 'Project', 0.5],
  [/^(?:CHANGELOG|CONTRIBUTING|SECURITY)\.md$/, 'Project', 0.4],
  [/^README\.md$/, 'Overview', 1.2],
  [/^docs\/(?:examples|recipes|methods)\.md$/, 'Overview', 1.2],
  [/^docs\/recipes\//, 'Recipe', 2],
  [/^docs\/methods\//, 'Method', 2.2],
  [/^docs\/openapi\./, 'OpenAPI', 0.5],
  [/^docs\//, 'Guide', 2.6],
  [/^examples\//, 'Example', 0.7],
]

/** What the search knows, gathered page by page. */
export class SearchRecords {
  readonly #records: SearchRecord[] = []

  all(): readonly SearchRecord[] {
    return this.#records
  }

  add(page: PageEvent<Reflection>, content: Element): void {
    const article = DomUtils.findOne(({ name }) => name === 'article', content.children)
    if (article === null || page.url === 'modules.html') return
    const { kind, weight } = rankOf(page)
    const about = { title: page.url === 'index.html' ? 'Overview' : page.model.name, kind }
    for (const { anchor, heading, text } of sectionsOf(article)) {
      if (text === '') continue
      const isMember = heading !== '' && !page.model.isDocument() && page.url !== 'index.html'
      this.#records.push({
        ...about,
        url: anchor === '' || heading === '' ? page.url : `${page.url}#${anchor}`,
        heading,
        text,
        weight: isMember ? weight * 0.5 : weight,
      })
    }
  }
}

function rankOf({ model, url }: PageEvent<Reflection>): { kind: string; weight: number } {
  if (model.isDocument() || url === 'index.html') {
    const source = sourceOf(model)
    const [, kind = 'Guide', weight = 1] = WEIGHTS.find(([path]) => path.test(source)) ?? []
    return { kind, weight }
  }
  const kind = kindOf(model)
  if (kind === 'Error') return { kind, weight: 1.4 }
  return { kind, weight: model.kindOf(ReflectionKind.Class | ReflectionKind.Function) ? 1.2 : 0.7 }
}

interface Section {
  readonly anchor: string
  readonly heading: string
  text: string
}

/** The text of an article, cut at its headings. The first part goes under the name of the page. */
function sectionsOf(article: Element): Section[] {
  const sections: Section[] = [{ anchor: '', heading: '', text: '' }]
  const read = (node: AnyNode): void => {
    if (isText(node)) {
      const section = sections.at(-1)
      if (section !== undefined) section.text += node.data
    } else if (isTag(node)) {
      if (/^(?:button|style|svg)$/.test(node.name) || node.attribs.class === 'tsd-anchor-icon') return
      if (/^h[23]$/.test(node.name)) {
        const named = DomUtils.findOne(
          ({ name, attribs }) => name === 'span' && attribs['aria-hidden'] === undefined,
          node.children,
        )
        const heading = clean(DomUtils.innerText(named ?? node)).replace(/ ?#$/, '')
        sections.push({ anchor: node.attribs.id ?? '', heading, text: '' })
        return
      }
      node.children.forEach(read)
      if (/^(?:p|li|td|th|h\d|div|pre|dd|dt|tr)$/.test(node.name)) {
        const section = sections.at(-1)
        if (section !== undefined) section.text += ' '
      }
    }
  }
  read(article)
  return sections.map((section) => ({ ...section, text: clean(section.text) }))
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'", nbsp: ' ' }

const clean = (text: string): string =>
  text
    .replaceAll(/&(lt|gt|amp|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim()
