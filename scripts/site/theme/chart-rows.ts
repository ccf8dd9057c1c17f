import type { Element } from 'domhandler'
import { DomUtils } from 'htmlparser2'

/** Where the bars of bench/plot.ts may end, in its units. */
const PLOT = 430

/** A chart of bars as rows of text, which fit any screen and weigh a third of the drawing; '' for any other drawing. */
export function chartRows(svg: Element): string {
  const rows: string[] = []
  let name = ''
  let bar: Element | undefined
  for (const part of DomUtils.findAll(({ attribs }) => attribs.class !== undefined, svg.children)) {
    const words = DomUtils.textContent(part)
    const classes = part.attribs.class?.split(' ') ?? []
    if (classes.includes('title')) rows.push(`<p class="chart-title">${words}</p>`)
    else if (classes.includes('group')) rows.push(`<p class="chart-group">${words}</p>`)
    else if (classes.includes('name')) name = words
    else if (classes.includes('bar')) bar = part
    else if (classes.includes('value') && bar !== undefined) {
      const share = ((100 * Number(bar.attribs.width)) / PLOT).toFixed(1)
      const kind = bar.attribs.class?.includes('ours') ? 'chart-row ours' : 'chart-row'
      rows.push(
        `<p class="${kind}"><span>${name}</span> <b>${words}</b><i class="chart-bar" style="width:${share}%"></i></p>`,
      )
    }
  }
  return rows.some((row) => row.includes('chart-bar')) ? `<div class="chart-rows">${rows.join('')}</div>` : ''
}
