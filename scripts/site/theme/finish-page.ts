import { DomUtils, parseDocument } from 'htmlparser2'
import type { PageEvent, Router } from 'typedoc'
import type { SearchRecords } from '../search/records.ts'
import { frameCode } from './code.ts'
import { countHeadings } from './headings.ts'
import { linkNames } from './name-links.ts'
import { inlinePictures } from './pictures.ts'
import { labelCells } from './tables.ts'

/** What is done to the HTML of a page when TypeDoc has written it, and what the search learns from it. */
export function finishPage(page: PageEvent, router: Router | undefined, records: SearchRecords): void {
  if (page.contents === undefined || router === undefined || !page.isReflectionEvent()) return
  const document = parseDocument(page.contents, { decodeEntities: false })
  const content = DomUtils.findOne((element) => element.attribs.id === 'content', document.children)
  if (content === null) throw new Error(`${page.url} has no content`)
  frameCode(content)
  labelCells(content)
  countHeadings(content)
  inlinePictures(content)
  linkNames(content, page, router)
  records.add(page, content)
  page.contents = DomUtils.getOuterHTML(document, { encodeEntities: false })
}
