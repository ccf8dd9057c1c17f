import type { Element } from 'domhandler'
import { DomUtils, parseDocument } from 'htmlparser2'
import { type PageEvent, type Reflection, ReflectionKind, type Router } from 'typedoc'

const LINKED = ReflectionKind.Class | ReflectionKind.Function | ReflectionKind.Interface | ReflectionKind.TypeAlias

/** Links a name of the package that stands as code: once per paragraph, cell or list item, and not in headings or links. */
export function linkNames(content: Element, page: PageEvent<Reflection>, router: Router): void {
  const pages = pagesByName(page)
  const seen = new Map<unknown, Set<string>>()
  for (const code of DomUtils.getElementsByTagName('code', content)) {
    const [text] = code.children
    const name = text !== undefined && 'data' in text && code.children.length === 1 ? text.data : ''
    const target = pages.get(name)
    if (target === undefined || target === page.model || isInside(code, /^(?:a|pre|h[1-6]|header|nav|footer)$/))
      continue
    const inThisPlace = seen.get(code.parent) ?? new Set()
    seen.set(code.parent, inThisPlace)
    if (inThisPlace.has(name)) continue
    inThisPlace.add(name)
    const address = router.relativeUrl(page.model, target)
    const [link] = parseDocument(`<a href="${address}"></a>`).children as Element[]
    if (link === undefined) continue
    DomUtils.replaceElement(code, link)
    DomUtils.appendChild(link, code)
  }
}

function isInside(element: Element, names: RegExp): boolean {
  for (let above = element.parent; above !== null; above = above.parent) {
    if ('name' in above && names.test(above.name)) return true
  }
  return false
}

let known: { project: unknown; pages: ReadonlyMap<string, Reflection> } | undefined

function pagesByName({ project }: PageEvent<Reflection>): ReadonlyMap<string, Reflection> {
  if (known?.project !== project) {
    const pages = new Map<string, Reflection>()
    for (const item of project.getReflectionsByKind(LINKED)) {
      if (item.parent?.kindOf(ReflectionKind.Module) && !item.isReference() && !pages.has(item.name)) {
        pages.set(item.name, item)
      }
    }
    for (const item of project.getReflectionsByKind(ReflectionKind.Document)) {
      if (item.parent?.name === 'Methods') pages.set(item.name, item)
    }
    known = { project, pages }
  }
  return known.pages
}
