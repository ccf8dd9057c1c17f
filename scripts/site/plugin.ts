import { type Application, Converter, IndexEvent, PageEvent, RendererEvent } from 'typedoc'
import { removeUnused, writeAssets } from './assets.ts'
import { withoutInheritedStatics } from './content/error-classes.ts'
import { addExamples } from './content/examples.ts'
import { colourSignature } from './content/method-signature.ts'
import { addOpenapi } from './content/openapi.ts'
import { SearchRecords } from './search/records.ts'
import { finishPage } from './theme/finish-page.ts'
import { sourceOf } from './theme/source.ts'
import { ReferenceTheme } from './theme/theme.ts'

/** Makes the reference of TypeDoc's model: pages of our own beside the guides, a theme, a search. */
export function load(app: Application): void {
  app.renderer.defineTheme('reference', ReferenceTheme)

  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_context, page) => {
    if (sourceOf(page) === 'docs/examples.md') addExamples(page, app.converter)
    if (sourceOf(page).startsWith('docs/methods/')) colourSignature(page)
    if (sourceOf(page) === 'docs/methods.md') addOpenapi(page, app.converter)
  })
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => withoutInheritedStatics(project))

  app.renderer.on(RendererEvent.BEGIN, () => {
    const records = new SearchRecords()
    const finish = (page: PageEvent) => finishPage(page, app.renderer.router, records)
    app.renderer.on(PageEvent.END, finish)
    app.renderer.postRenderAsyncJobs.push(async ({ outputDirectory }) => {
      app.renderer.off(PageEvent.END, finish)
      await writeAssets(outputDirectory, records.all())
    })
  })
  app.renderer.on(RendererEvent.END, ({ outputDirectory }) => removeUnused(outputDirectory))
  // TypeDoc's own index is not used.
  app.renderer.on(IndexEvent.PREPARE_INDEX, (event) => {
    event.searchResults.splice(0)
  })
}
