import { type DeclarationReflection, JSX, type ProjectReflection, type Reflection, ReflectionKind } from 'typedoc'
import type { ReferenceContext } from './context.tsx'
import { sectionHeading } from './member-sections.tsx'
import { isError } from './source.ts'

const SECTIONS: readonly (readonly [title: string, holds: (item: Reflection) => boolean])[] = [
  ['Classes', (item) => item.kindOf(ReflectionKind.Class) && !(item.isDeclaration() && isError(item))],
  ['Functions', (item) => item.kindOf(ReflectionKind.Function)],
  ['Errors', (item) => item.kindOf(ReflectionKind.Class)],
  ['Schemas', (item) => item.kindOf(ReflectionKind.Variable)],
  ['Types', (item) => item.kindOf(ReflectionKind.Interface | ReflectionKind.TypeAlias)],
]

/** What can be imported from a module, by kind. A name that another module has as well stands like any other. */
export function moduleList(context: ReferenceContext, module: DeclarationReflection | ProjectReflection): JSX.Element {
  const items = (module.children ?? []).map((child) => (child.isReference() ? child.getTargetReflectionDeep() : child))
  const sections = SECTIONS.map(([title], index) => ({
    title,
    items: items.filter((item) => SECTIONS.findIndex(([, holds]) => holds(item)) === index).sort(byName),
  })).filter((section) => section.items.length > 0)
  return (
    <>
      {module.hasComment() && <section class="tsd-comment">{context.commentSummary(module)}</section>}
      {sections.map((section) => {
        const anchor = context.slugger.slug(section.title)
        context.page.pageHeadings.push({ link: `#${anchor}`, text: section.title, level: 2 })
        return (
          <section>
            {sectionHeading(context, section.title, anchor)}
            <dl class="exports">
              {section.items.map((item) => (
                <div>
                  <dt>
                    <a href={context.addressOf(item)}>
                      <code>{item.name}</code>
                    </a>
                  </dt>
                  <dd>{context.commentShortSummary(item)}</dd>
                </div>
              ))}
            </dl>
          </section>
        )
      })}
    </>
  )
}

const byName = (one: Reflection, other: Reflection): number => one.name.localeCompare(other.name, 'en')
