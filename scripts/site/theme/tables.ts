import type { Element } from 'domhandler'
import { DomUtils } from 'htmlparser2'

/** Writes the heading of its column to each cell, where a phone shows it: there the rows stack. */
export function labelCells(content: Element): void {
  for (const table of DomUtils.getElementsByTagName('table', content)) {
    // An empty heading is none.
    for (const cell of DomUtils.getElementsByTagName('th', table)) if (cell.children.length === 0) cell.name = 'td'
    const headings =
      DomUtils.getElementsByTagName('tr', table)[0]
        ?.children.filter((child): child is Element => 'name' in child)
        .map((cell) => DomUtils.innerText(cell).trim()) ?? []
    for (const row of DomUtils.getElementsByTagName('tr', table)) {
      const cells = row.children.filter((child): child is Element => 'name' in child && child.name === 'td')
      for (const [index, cell] of cells.entries()) cell.attribs['data-label'] = headings[index] ?? ''
    }
    table.attribs.class = headings.length > 4 ? 'wide stacks' : isListOfFacts(table) ? 'facts' : 'stacks'
  }
}

/** Whether its first line is no heading but the first fact, such as `endpoint | GET /code`. */
function isListOfFacts(table: Element): boolean {
  const head = DomUtils.getElementsByTagName('th', table)
  return head.length <= 2 && head.some((cell) => DomUtils.getElementsByTagName('code', cell).length > 0)
}
