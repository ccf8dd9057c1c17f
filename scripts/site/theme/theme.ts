import { DefaultTheme, type PageEvent, type Reflection } from 'typedoc'
import { ReferenceContext } from './context.tsx'
import { type Navigation, navigationOf } from './navigation.ts'

/** TypeDoc's theme with a layout, a navigation and signatures of our own. */
export class ReferenceTheme extends DefaultTheme {
  #navigation: Navigation | undefined

  override getRenderContext(page: PageEvent<Reflection>): ReferenceContext {
    this.#navigation ??= navigationOf(page.project)
    return new ReferenceContext(this.router, this, page, this.application.options, this.#navigation)
  }

  /** TypeDoc's script would draw it; ours stands in each page. */
  override buildNavigation(): [] {
    return []
  }
}
