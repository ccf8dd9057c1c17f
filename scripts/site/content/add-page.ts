import { dirname, join } from 'node:path'
import { type CommentDisplayPart, type Converter, DocumentReflection, type NormalizedPath } from 'typedoc'
import { pathTo } from '../../repository.ts'

/** Where a link of Markdown leads to a page that is made here as well. */
const LINK = /(?<=\]\()([\w.-]+\.json)(?:#([\w-]+))?(?=\))/g

/** Makes a page of `markdown` below `parent`, as if it stood in `file`: links to that file lead to the page. */
export function addPage(
  converter: Converter,
  parent: DocumentReflection,
  { title, file, markdown }: { title: string; file: string; markdown: string },
): void {
  const { files } = parent.project
  const content: CommentDisplayPart[] = []
  let end = 0
  for (const { index, 0: text, 1: name = '', 2: targetAnchor } of markdown.matchAll(LINK)) {
    const { target } = files.registerAbsolute(pathTo(join(dirname(file), name)) as NormalizedPath)
    content.push(
      { kind: 'text', text: markdown.slice(end, index) },
      { kind: 'relative-link', text, target, targetAnchor },
    )
    end = index + text.length
  }
  content.push({ kind: 'text', text: markdown.slice(end) })
  const page = new DocumentReflection(title, parent, content, {})
  parent.addChild(page)
  parent.project.registerReflection(page, undefined, pathTo(file) as NormalizedPath)
  converter.trigger('createDocument', undefined, page)
}
