import { posix, relative } from 'node:path'
import { type DeclarationReflection, type Reflection, ReflectionKind } from 'typedoc'
import { pathTo } from '../../repository.ts'

/** The file of the repository that a page is written in, such as `docs/webhooks.md`; '' for one that is put together. */
export function sourceOf(page: Reflection): string {
  const file = page.project.files.getReflectionPath(page)
  if (page.isDocument()) return file === undefined ? '' : relative(pathTo('.'), file).replaceAll('\\', '/')
  if (page.isProject()) return 'README.md'
  const source = page.project.getSymbolIdFromReflection(page)?.packagePath ?? ''
  return source.includes('node_modules') ? '' : source
}

/** The file in which the words of a page are written; `undefined` where a program writes all of them. */
export function editedIn(page: Reflection): string | undefined {
  const source = sourceOf(page)
  if (source.startsWith('docs/methods/')) return 'src/client.ts'
  return source === '' || /^docs\/(?:openapi\.|benchmarks\.md)/.test(source) ? undefined : source
}

/** What it is called above its name. */
export function kindOf(item: Reflection): string {
  if (item.isDeclaration() && isError(item)) return 'Error'
  if (item.kindOf(ReflectionKind.TypeAlias)) return 'Type'
  if (item.kindOf(ReflectionKind.Variable) && sourceOf(item).startsWith('src/')) return 'Schema'
  return item.kindOf(ReflectionKind.Module) ? 'Import' : ReflectionKind.singularString(item.kind)
}

/** Whether it is a class of errors, told by its ancestors. */
export function isError(item: DeclarationReflection): boolean {
  return item.kindOf(ReflectionKind.Class) && descendsFromError(item)
}

function descendsFromError(item: DeclarationReflection): boolean {
  return (item.extendedTypes ?? []).some(
    (type) =>
      type.type === 'reference' &&
      (/^(?:Type|Range)?Error$/.test(type.name) ||
        (type.reflection?.isDeclaration() === true && descendsFromError(type.reflection))),
  )
}

/** The name of the module to import it from: of several the one that stands nearest to its source, as the guides do. */
export function importOf(item: Reflection): string {
  const modules = item.project
    .getReflectionsByKind(ReflectionKind.Module)
    .filter((module): module is DeclarationReflection => module.isDeclaration())
    .filter(({ children }) =>
      children?.some((child) => child === item || (child.isReference() && child.getTargetReflectionDeep() === item)),
    )
  const source = sourceOf(item)
  const nearness = (module: DeclarationReflection): number => {
    const folder = `${posix.dirname(sourceOf(module))}/`
    // Whoever has the types from the root needs no second import for them.
    const isSecond = module.name.endsWith('/schemas') && !item.kindOf(ReflectionKind.Variable)
    return source.startsWith(folder) && !isSecond ? folder.length : 0
  }
  return modules.sort((one, other) => nearness(other) - nearness(one))[0]?.name ?? ''
}
