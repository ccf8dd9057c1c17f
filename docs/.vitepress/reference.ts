import type { Application } from 'typedoc'
import { MarkdownPageEvent } from 'typedoc-plugin-markdown'

/** Plugin of TypeDoc: shortens the pages of the API reference. */
export function load(app: Application): void {
  app.renderer.on(MarkdownPageEvent.END, (page: MarkdownPageEvent) => {
    if (page.contents !== undefined) page.contents = shortenPage(page.contents)
  })
}

/** Shortens the types of schemas, puts defaults on one line and causes of errors in one list, and links the error codes. */
export function shortenPage(contents: string): string {
  const [, code] = /\*\*code\*\*: `"(\w+)"`/.exec(contents) ?? []
  const link = code === undefined ? '' : `[What to do after this error](/error-codes#${code})\n\n`
  return listThrows(contents)
    .replace(/^(> `const` \*\*\w+\*\*: `Zod\w*`).*$/gm, '$1')
    .replace(
      /^#+ Default Value\n\n(?:```ts\n(.+)\n```|(.+))$/gm,
      (_, code, text) => `Default: ${text ?? `\`${code}\``}`,
    )
    .replace(/^(# Class: [\s\S]+?)(?=^## )/m, (head) => `${head}${link}`)
}

/** TypeDoc writes a section for each `@throws`. */
function listThrows(contents: string): string {
  const sections: string[] = []
  let before = ''
  for (const section of contents.split(/^(?=#+ )/m)) {
    const [heading = ''] = /^#+ Throws$/m.exec(section) ?? []
    if (heading === '') sections.push(section)
    else {
      const [cause = '', rest] = section.slice(heading.length).split(/^(?=\*\*\*$)/m)
      const item = `- ${cause.trim().replaceAll('\n', '\n  ')}\n`
      const isFirst = heading !== before
      if (!isFirst) sections.push(sections.pop()?.trimEnd() ?? '')
      sections.push(`${isFirst ? `${heading}\n` : ''}\n${item}\n${rest ?? ''}`)
    }
    before = heading
  }
  return sections.join('')
}
