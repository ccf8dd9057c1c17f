import { readFileSync } from 'node:fs'
import {
  Application,
  CommentTag,
  Converter,
  type DeclarationReflection,
  type PageDefinition,
  type PageEvent,
  type ProjectReflection,
  type Reflection,
  ReflectionKind,
  Slugger,
  type SomeType,
  UnionType,
} from 'typedoc'
import { MarkdownPageEvent, ModuleRouter } from 'typedoc-plugin-markdown'
import { anchorOf } from './anchor.ts'
import { addGuides } from './option-guides.ts'

/**
 * Plugin of TypeDoc: describes each export on the page of its own entry point, or on its own page, shortens the pages of the
 * API reference, and finds exports without a description or an example.
 */
export function load(app: Application): void {
  app.renderer.defineRouter('entry-points', EntryPointRouter)
  app.on(Application.EVENT_VALIDATE_PROJECT, (project) => {
    for (const problem of missingDocs(project)) app.logger.warn(problem)
  })
  // Before TypeDoc makes the groups of a page.
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => moveToOwnEntryPoint(project), 1_000)
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => removeRepetitions(project), -50)
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => addGuides(project), -50)
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => groupShapes(project), -50)
  app.renderer.on(MarkdownPageEvent.END, (page: PageEvent) => {
    if (page.contents !== undefined) page.contents = shortenPage(page.contents)
  })
}

/** The entry points whose exports have their own pages. */
const SPLIT = ['campaign-client/webhook']

/** Makes a page of each entry point, and of each export of those in `SPLIT`. */
class EntryPointRouter extends ModuleRouter {
  override buildChildPages(reflection: Reflection, pages: PageDefinition[]): void {
    const { name, parent } = reflection
    const kind = parent && SPLIT.includes(parent.name) ? this.getPageKind(reflection) : undefined
    if (kind === undefined) {
      super.buildChildPages(reflection, pages)
    } else {
      const url = this.getFileName(`${parent?.name}/${name}`)
      this.fullUrls.set(reflection, url)
      this.sluggers.set(reflection, new Slugger(this.sluggerConfiguration))
      pages.push({ kind, model: reflection, url })
      reflection.traverse((child) => {
        super.buildChildPages(child, pages)
        return true
      })
    }
  }
}

/** The folder of an entry point whose exports `campaign-client` exports, too. */
const OWN_FOLDER = { 'campaign-client/webhook': '/src/webhook/' }

/** TypeDoc describes an export of two entry points on the page of the first. */
function moveToOwnEntryPoint(project: ProjectReflection): void {
  for (const module of project.children ?? []) {
    const folder = OWN_FOLDER[module.name as keyof typeof OWN_FOLDER]
    if (folder === undefined) continue
    for (const reference of [...(module.children ?? [])]) {
      const target = reference.isReference() ? reference.tryGetTargetReflectionDeep() : undefined
      const file = target && project.getSymbolIdFromReflection(target)?.fileName
      if (target?.isDeclaration() !== true || file?.replaceAll('\\', '/').includes(folder) !== true) continue
      const first = target.parent as DeclarationReflection
      project.removeReflection(reference)
      first.removeChild(target)
      target.parent = module
      module.addChild(target)
    }
  }
}

/** Removes what the page of the base class says, and spells out the values of `code`. */
function removeRepetitions(project: ProjectReflection): void {
  const reflections = project.getReflectionsByKind(ReflectionKind.All) as DeclarationReflection[]
  const repeated = reflections.filter(
    ({ name, parent, inheritedFrom }) =>
      name === '[hasInstance]' || (parent?.kindOf(ReflectionKind.Class) && inheritedFrom?.reflection !== undefined),
  )
  for (const reflection of repeated) project.removeReflection(reflection)
  for (const reflection of project.getReflectionsByKind(ReflectionKind.All) as DeclarationReflection[]) {
    for (const owner of [reflection, ...(reflection.signatures ?? []), reflection.getSignature ?? reflection]) {
      delete owner.inheritedFrom
      delete owner.overwrites
    }
    const isCode = reflection.name === 'code' || /Code$/.test(reflection.name)
    if (isCode && reflection.type?.type !== 'literal') {
      const literals = literalsOf(reflection.type)
      if (literals.length > 1) reflection.type = new UnionType(literals)
    }
  }
}

/** The objects of other libraries and platforms, as far as this package uses them. Nobody writes these types. */
export const SHAPES: readonly string[] = [
  'ClientOf',
  'FastifyPlugin',
  'FastifyScope',
  'FastifyWebhookReply',
  'FastifyWebhookRequest',
  'FetchLikeInit',
  'FetchLikeResponse',
  'IoredisClient',
  'LambdaContext',
  'LambdaHttpEvent',
  'LambdaHttpResult',
  'NodeAgent',
  'NodeReadable',
  'NodeRedisClient',
  'NodeRequest',
  'NodeResponse',
  'PgClient',
  'PgPool',
  'PostgresSql',
  'SqliteDatabase',
  'SqliteStatement',
  'SqliteValue',
  'WaitUntilContext',
]

/** Puts the shapes at the end of their pages (`groupOrder` in typedoc.json). */
function groupShapes(project: ProjectReflection): void {
  for (const { name, comment, parent } of project.getReflectionsByKind(ReflectionKind.SomeExport)) {
    if (!SHAPES.includes(name) || !parent?.kindOf(ReflectionKind.SomeModule)) continue
    comment?.blockTags.push(new CommentTag('@group', [{ kind: 'text', text: 'Shapes of other libraries' }]))
  }
}

/** The members of a union of literals, in which the names of other unions are replaced; none if it has other members. */
function literalsOf(type: SomeType | undefined): SomeType[] {
  if (type?.type === 'literal') return [type]
  if (type?.type === 'union') {
    const members = type.types.map(literalsOf)
    return members.some(({ length }) => length === 0) ? [] : members.flat()
  }
  const target = type?.type === 'reference' ? type.reflection : undefined
  return target?.isDeclaration() ? literalsOf(target.type) : []
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
  return (
    linkSections(listThrows(listReferences(listIndex(contents))))
      .replace(/^(> `const` \*\*\w+\*\*: `Zod\w*`).*$/gm, '$1')
      .replace(
        /^#+ Default Value\n\n(?:```ts\n(.+)\n```|(.+))$/gm,
        (_, code, text) => `Default: ${text ?? markValue(code)}`,
      )
      .replace(/^### (\w+)\n[\s\S]*?(?=^#{1,3} |(?![\s\S]))/gm, (section, name) =>
        section.replace(/(?=^#### )/m, errorLink(name, section)),
      )
      // TypeDoc gives `WebhookError.code` and `WebhookErrorCode` the same anchor, the site does not.
      .replace(/(\[`?\w+[a-z](?:Code|Status|Outcome)`?\]\([^)#]*#[a-z]+)-1(?=\))/g, '$1')
      // The theme of TypeDoc makes `#hook-id` of a link to `hook_id`.
      .replace(/(\[`(\w+_\w+)`\]\([^)#]*#)[\w-]+/g, (_, start, name) => `${start}${anchorOf(name)}`)
  )
}

/** Sets a default value as code, and the words after it, or in place of it, as text. */
const markValue = (value: string): string =>
  /^(?:none\b|[a-z]+ [a-z])/.test(value) ? value : value.replace(/^.+?(?=[,;] | \(|$)/, '`$&`')

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

const ERROR_CODES = readFileSync(new URL('../error-codes.md', import.meta.url), 'utf8')

/** Returns the link to what to do after an error: to the section of its code, or to the page if the class has several codes. */
function errorLink(name: string, contents: string): string {
  if (!contents.includes('**code**')) return ''
  const [, literal] = /\*\*code\*\*: `"(\w+)"`$/m.exec(contents) ?? []
  const snakeCase = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()
  const codes = [literal, snakeCase, snakeCase.replace(/_error$/, '')]
  const code = codes.find((code) => code !== undefined && ERROR_CODES.includes(`\n### ${code}\n`))
  return `[What to do after this error](/error-codes${code === undefined ? '' : `#${code}`})\n\n`
}

/** Turns the tables of an index into lists: on a phone, the names would leave no room for the descriptions. */
function listIndex(contents: string): string {
  return contents.replaceAll(/^\| [\w ]+ \| Description \|\n\|[ -|]+\|\n((?:\| \[.+\n?)+)/gm, (_, rows: string) =>
    rows.replaceAll(
      /^\| (\[.+?\]\(.+?\)) \| (.+) \|$/gm,
      (_, link, text) => `- ${link}: ${text.replaceAll('\\|', '|')}`,
    ),
  )
}

/** TypeDoc writes a section for each export that another page describes. */
const listReferences = (contents: string): string =>
  contents.replace(/^## References\n[\s\S]*?(?=^## |(?![\s\S]))/m, (section) => {
    const links = [...section.matchAll(/^(?:Re-exports|Renames and re-exports) (\[.+?\]\(.+?\))$/gm)].map(
      ([, link]) => link,
    )
    return `Also exports ${links.join(', ')}.\n\n`
  })

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
