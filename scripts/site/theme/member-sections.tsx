import { type ContainerReflection, JSX, type Reflection } from 'typedoc'
import type { ReferenceContext } from './context.tsx'
import { isError } from './source.ts'

/** What a caller reads of an error comes first. */
const ORDER_OF_ERRORS = ['Properties', 'Accessors', 'Methods', 'Constructors']

/** The members of a class or an interface, by kind, open: a section that folds hides what a reader searches for. */
export function memberSections(context: ReferenceContext, item: ContainerReflection): JSX.Element {
  const groups = [...(item.groups ?? [])]
  if (item.isDeclaration() && isError(item)) {
    groups.sort((one, other) => ORDER_OF_ERRORS.indexOf(one.title) - ORDER_OF_ERRORS.indexOf(other.title))
  }
  return (
    <>
      {groups.map(({ title, children }) => {
        const members = children.filter((member) => !context.router.hasOwnDocument(member)).sort(ownFirst)
        if (members.length === 0) return <></>
        context.page.startNewSection(title)
        const anchor = context.slugger.slug(title)
        return (
          <section class="members">
            {sectionHeading(context, title, anchor)}
            {members.map((member) => context.member(member))}
          </section>
        )
      })}
    </>
  )
}

export function sectionHeading(context: ReferenceContext, title: string, anchor: string): JSX.Element {
  return (
    <h2 id={anchor} class="tsd-anchor-link">
      {title}
      <a href={`#${anchor}`} aria-label="Permalink" class="tsd-anchor-icon">
        {context.icons.anchor()}
      </a>
    </h2>
  )
}

/** What every error of the platform has comes after what is particular to this one. */
function ownFirst(one: Reflection, other: Reflection): number {
  const isPlatforms = (member: Reflection): boolean =>
    /^(?:cause|message|name|stack)$/.test(member.name) &&
    member.parent?.isDeclaration() === true &&
    isError(member.parent)
  return Number(isPlatforms(one)) - Number(isPlatforms(other))
}
