import type { Element } from 'domhandler'
import { DomUtils } from 'htmlparser2'

/** Headings of comments begin at the fourth level wherever they stand; to those who listen, none may be left out. */
export function countHeadings(content: Element): void {
  let above = 0
  for (const heading of DomUtils.findAll(({ name }) => /^h[1-6]$/.test(name), content.children)) {
    const level = Math.min(Number(heading.name.slice(1)), above + 1)
    if (heading.name !== `h${level}`) heading.attribs['aria-level'] = String(level)
    above = level
  }
}
