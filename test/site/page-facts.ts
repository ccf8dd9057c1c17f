import { Parser } from 'htmlparser2'

/** What a page says of itself to those who only read its HTML. */
export interface PageFacts {
  readonly ids: ReadonlySet<string>
  /** Where its links lead, as they are written. */
  readonly links: readonly string[]
  /** What a browser loads for it: scripts, styles, pictures. */
  readonly loads: readonly string[]
}

/** @throws Error when an id is given twice: a link to it would lead to the first only. */
export function readPage(html: string): PageFacts {
  const ids = new Set<string>()
  const links: string[] = []
  const loads: string[] = []
  const parser = new Parser({
    onopentag(name, { id, href, src }) {
      if (id !== undefined) {
        if (ids.has(id)) throw new Error(`an id stands twice: ${id}`)
        ids.add(id)
      }
      if (href !== undefined) (name === 'a' ? links : loads).push(href)
      if (src !== undefined) loads.push(src)
    },
  })
  parser.end(html)
  return { ids, links, loads }
}
