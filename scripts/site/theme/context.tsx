import {
  type CommentTag,
  type ContainerReflection,
  type DeclarationReflection,
  DefaultThemeRenderContext,
  type Icons,
  JSX,
  type Options,
  type PageEvent,
  type ProjectReflection,
  type Reflection,
  type RenderTemplate,
  type Router,
} from 'typedoc'
import { layout } from './layout.tsx'
import { memberSections } from './member-sections.tsx'
import { moduleList } from './module-list.tsx'
import type { Navigation } from './navigation.ts'
import type { ReferenceTheme } from './theme.ts'
import { throwsList } from './throws.tsx'

/** How the parts of a page are drawn, where TypeDoc's own way does not do. */
export class ReferenceContext extends DefaultThemeRenderContext {
  readonly site: Navigation

  constructor(router: Router, theme: ReferenceTheme, page: PageEvent<Reflection>, options: Options, site: Navigation) {
    super(router, theme, page, options)
    this.site = site
    const drawTags = this.commentTags
    this.commentTags = (item) => this.#tagsOf(item, drawTags)
  }

  /** Where a page is, seen from this one. */
  addressOf(target: Reflection): string {
    const address = this.urlTo(target)
    if (address === undefined) throw new Error(`${target.getFullName()} has no page`)
    return address
  }

  /** None: words say what a thing is. A heading's link to itself is a sign that only shows when it is pointed at. */
  override get icons(): Icons {
    return new Proxy({} as Icons, {
      get: (_, name) => () => (name === 'anchor' ? <span aria-hidden="true">#</span> : <></>),
    })
  }

  override reflectionIcon = () => <></>

  override defaultLayout = (template: RenderTemplate<PageEvent<Reflection>>, page: PageEvent<Reflection>) =>
    layout(this, template(page), page)

  override moduleReflection = (module: DeclarationReflection | ProjectReflection) => moduleList(this, module)

  /** What stands on the page is listed beside it, and on a phone behind a button. */
  override index = (_: ContainerReflection) => <></>

  override members = (item: ContainerReflection) => memberSections(this, item)

  override hierarchy = (hierarchy: Parameters<DefaultThemeRenderContext['hierarchy']>[0]) => {
    if (hierarchy === undefined) return undefined
    const line: JSX.Element[] = []
    for (let level: typeof hierarchy | undefined = hierarchy; level !== undefined; level = level.next) {
      if (level.isTarget) break
      line.push(...level.types.map((type) => this.type(type)))
    }
    if (line.length === 0) return undefined
    return (
      <p class="extends">
        Extends{' '}
        {line.reverse().map((type, index) => (
          <>
            {index > 0 && ', '}
            {type}
          </>
        ))}
      </p>
    )
  }

  /** Every `@throws` of a comment under one heading. */
  #tagsOf(item: Reflection, drawTags: (item: Reflection) => JSX.Element | undefined): JSX.Element | undefined {
    const thrown = item.comment?.blockTags.filter(({ tag }) => tag === '@throws') ?? []
    if (thrown.length === 0) return drawTags(item)
    const shown = thrown.map((tag): [CommentTag, boolean] => [tag, tag.skipRendering])
    for (const tag of thrown) tag.skipRendering = true
    const others = drawTags(item)
    for (const [tag, skipped] of shown) tag.skipRendering = skipped
    return (
      <>
        {throwsList(this, thrown)}
        {others}
      </>
    )
  }
}
