import { type DeclarationReflection, type ProjectReflection, type Reflection, ReflectionKind } from 'typedoc'
import { isError, sourceOf } from './source.ts'

/** A link of the navigation. */
export interface Entry {
  readonly text: string
  readonly target: Reflection
}

/** Entries under a heading of their own, closed until one of them is the page. */
export interface Fold {
  readonly title: string
  readonly entries: readonly Entry[]
}

export interface Group {
  readonly title: string
  readonly entries: readonly Entry[]
  readonly folds: readonly Fold[]
}

export interface Navigation {
  readonly groups: readonly Group[]
  /** Guides, recipes and methods in the order in which they are read on. */
  readonly readingOrder: readonly Entry[]
  groupOf(page: Reflection): Group | undefined
}

/** Which group a guide stands in, and in which order there; a page that is not named stands at the end of Guides. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  Guides: [
    'docs/getting-started.md',
    'docs/tokens.md',
    'docs/retries-and-idempotency.md',
    'docs/runtimes-and-frameworks.md',
    'docs/the-service.md',
  ],
  Recipes: ['docs/recipes.md', 'docs/recipes/', 'docs/examples.md', 'examples/'],
  Methods: ['docs/methods.md', 'docs/methods/', 'docs/openapi.json', 'docs/openapi.schemas.json'],
  Client: [],
  Errors: ['docs/errors-and-outcomes.md', 'docs/error-codes.md'],
  Webhooks: ['docs/webhooks.md', 'docs/missed-events.md'],
  Testing: ['docs/testing.md'],
  Bulk: ['docs/bulk-awards.md'],
  Command: ['docs/command.md', 'docs/console.md'],
  Project: [
    'docs/support.md',
    'docs/benchmarks.md',
    'docs/open-questions.md',
    'docs/design.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
  ],
}

/** Where a file of src belongs. The first that fits. */
const SOURCES: readonly (readonly [folder: string, group: string])[] = [
  ['src/webhook/', 'Webhooks'],
  ['src/testing/', 'Testing'],
  ['src/bulk/', 'Bulk'],
  ['src/', 'Client'],
]

const FOLDS: readonly (readonly [title: string, holds: (item: DeclarationReflection) => boolean])[] = [
  ['Schemas', (item) => item.kindOf(ReflectionKind.Variable)],
  ['Requests and results', (item) => /^src\/(?:endpoints|schemas)\//.test(sourceOf(item))],
  ['Types', (item) => item.kindOf(ReflectionKind.Interface | ReflectionKind.TypeAlias)],
]

export function navigationOf(project: ProjectReflection): Navigation {
  const documents = allDocuments(project)
  const modules = project.getChildrenByKind(ReflectionKind.Module)
  const items = modules.flatMap((module) => module.children ?? []).filter((item) => !item.isReference())
  const groupOfItem = (item: DeclarationReflection): string =>
    isError(item) ? 'Errors' : (SOURCES.find(([folder]) => sourceOf(item).startsWith(folder))?.[1] ?? 'Client')
  const groupOfModule = (module: DeclarationReflection): string =>
    Object.keys(PAGES).find((title) => module.name.includes(`/${title.toLowerCase().replace(/s$/, '')}`)) ?? 'Client'

  const groups = Object.keys(PAGES).map((title): Group => {
    const own = items.filter((item) => groupOfItem(item) === title).sort(byUse)
    const foldOf = (item: DeclarationReflection) => FOLDS.find(([, holds]) => holds(item))?.[0]
    const folds = FOLDS.map(([name]) => ({
      title: name,
      entries: own.filter((item) => foldOf(item) === name).map(entryOf),
    }))
    const imports = modules.filter((module) => groupOfModule(module) === title).map(entryOf)
    return {
      title,
      entries: [
        ...pagesOf(title, documents).map(entryOf),
        ...own.filter((item) => foldOf(item) === undefined).map(entryOf),
      ],
      folds: [
        { title: 'Example programs', entries: title === 'Recipes' ? programs(documents).map(entryOf) : [] },
        ...folds,
        { title: 'Imports', entries: imports },
      ].filter(({ entries }) => entries.length > 0),
    }
  })
  const groupByPage = new Map(
    groups.flatMap((group) =>
      [...group.entries, ...group.folds.flatMap(({ entries }) => entries)].map(({ target }) => [target, group]),
    ),
  )
  return {
    groups,
    readingOrder: groups.flatMap(({ entries }) => entries.filter(({ target }) => target.isDocument())),
    groupOf: (page) => groupByPage.get(page),
  }
}

function allDocuments(project: ProjectReflection): Reflection[] {
  const below = (page: Reflection): Reflection[] =>
    page.isDocument() ? [page, ...(page.children ?? []).flatMap(below)] : []
  return (project.documents ?? []).flatMap(below)
}

const isProgram = (page: Reflection): boolean => sourceOf(page).startsWith('examples/')
const programs = (documents: readonly Reflection[]): readonly Reflection[] => documents.filter(isProgram)

/** The pages of a group in the order of the table; in Guides also those that no group names. */
function pagesOf(title: string, documents: readonly Reflection[]): Reflection[] {
  const fits = (path: string, place: string): boolean => (place.endsWith('/') ? path.startsWith(place) : path === place)
  const named = (PAGES[title] ?? []).flatMap((place) =>
    documents.filter((page) => !isProgram(page) && fits(sourceOf(page), place)),
  )
  if (title !== 'Guides') return named
  const places = Object.values(PAGES).flat()
  return [...named, ...documents.filter((page) => !places.some((place) => fits(sourceOf(page), place)))]
}

const entryOf = (target: Reflection): Entry => ({ text: target.name, target })

/** What is called first, then what only types speak of, each by name. */
function byUse(one: DeclarationReflection, other: DeclarationReflection): number {
  const rank = (item: DeclarationReflection): number =>
    item.kindOf(ReflectionKind.Class) && !isError(item) ? 0 : item.kindOf(ReflectionKind.Function) ? 1 : 2
  return rank(one) - rank(other) || one.name.localeCompare(other.name, 'en')
}
