import { type DeclarationReflection, type ProjectReflection, ReflectionKind } from 'typedoc'
import { isError } from '../theme/source.ts'

const errorsOf = (project: ProjectReflection): DeclarationReflection[] =>
  project
    .getReflectionsByKind(ReflectionKind.Class)
    .filter((item): item is DeclarationReflection => item.isDeclaration() && isError(item))

/** `captureStackTrace` and the like of the platform's `Error`, and the brand behind `instanceof`: nobody calls them. */
export function withoutInheritedStatics(project: ProjectReflection): void {
  for (const error of errorsOf(project)) {
    for (const member of [...(error.children ?? [])]) {
      if (
        member.flags.isStatic &&
        (member.flags.isExternal || member.flags.isInherited || member.name.startsWith('['))
      ) {
        project.removeReflection(member)
      }
    }
  }
}
