import { Application, type DeclarationReflection, type ProjectReflection, ReflectionKind } from 'typedoc'
import { MarkdownPageEvent } from 'typedoc-plugin-markdown'
import { anchorOf } from './anchor.ts'

/** Plugin of TypeDoc: shortens the pages of the API reference, and finds exports without a description or an example. */
export function load(app: Application): void {
  app.on(Application.EVENT_VALIDATE_PROJECT, (project) => {
    for (const problem of missingDocs(project)) app.logger.warn(problem)
  })
  app.renderer.on(MarkdownPageEvent.END, (page: MarkdownPageEvent) => {
    if (page.contents !== undefined) page.contents = shortenPage(page.contents)
  })
}

const MEMBERS = ReflectionKind.SomeModule | ReflectionKind.SomeMember | ReflectionKind.SomeExport
const WITHOUT_DOCS =
  ReflectionKind.Reference | ReflectionKind.Module | ReflectionKind.Constructor | ReflectionKind.TypeLiteral

/** Returns a line for each exported member without a description, and for each exported function without an example. */
export function missingDocs(project: ProjectReflection): string[] {
  const reflections = project.getReflectionsByKind(MEMBERS) as DeclarationReflection[]
  return reflections
    .filter((reflection) => !reflection.kindOf(WITHOUT_DOCS) && !isInTypeLiteral(reflection))
    .flatMap((reflection) => {
      const { signatures, getSignature } = reflection
      const comments = [reflection, getSignature, ...(signatures ?? [])].flatMap((owner) => owner?.comment ?? [])
      const name = reflection.getFullName()
      if (!comments.some((comment) => comment.hasVisibleComponent())) return [`${name} has no description`]
      const isFunction = reflection.kindOf(ReflectionKind.Function)
      return isFunction && !comments.some((comment) => comment.getTag('@example')) ? [`${name} has no @example`] : []
    })
}

/** The comment of a type describes the fields of its literals. */
function isInTypeLiteral({ parent }: DeclarationReflection): boolean {
  if (parent === undefined) return false
  return parent.kindOf(ReflectionKind.TypeLiteral) || isInTypeLiteral(parent as DeclarationReflection)
}

/**
 * Shortens the types of schemas, puts defaults on one line and causes of errors in one list, and links error codes and the
 * sections of guides.
 */
export function shortenPage(contents: string): string {
  const [, code] = /\*\*code\*\*: `"(\w+)"`/.exec(contents) ?? []
  const link = code === undefined ? '' : `[What to do after this error](/error-codes#${code})\n\n`
  return linkSections(listThrows(contents))
    .replace(/^(> `const` \*\*\w+\*\*: `Zod\w*`).*$/gm, '$1')
    .replace(
      /^#+ Default Value\n\n(?:```ts\n(.+)\n```|(.+))$/gm,
      (_, code, text) => `Default: ${text ?? `\`${code}\``}`,
    )
    .replace(/^(# Class: [\s\S]+?)(?=^## )/m, (head) => `${head}${link}`)
}

/**
 * Links the sections of guides that comments name in words, `"A" and "B" in docs/PAGE.md`: an editor could not open links of
 * the site.
 */
export function linkSections(text: string): string {
  return text.replaceAll(
    /("[^"`\n]+"(?:\s+and\s+"[^"`\n]+")?)\s+in\s+docs\/([\w-]+)\.md/g,
    (_, sections: string, page: string) =>
      sections.replaceAll(/"(.+?)"/g, (_, title) => `[${title}](/${page}#${anchorOf(title)})`),
  )
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
