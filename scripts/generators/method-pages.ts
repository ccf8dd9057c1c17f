import { methodPages } from '../method-pages.ts'
import type { Generator } from './generator.ts'

/** A page for each method of the client. */
export const pagesOfMethods: Generator = {
  name: 'method-pages',
  generate: async () => new Map([...(await methodPages())].map(([name, page]) => [`docs/methods/${name}.md`, page])),
}
