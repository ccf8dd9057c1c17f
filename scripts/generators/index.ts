import { argumentDescriptions } from './argument-descriptions.ts'
import { entryPointFiles } from './entry-points.ts'
import type { Generator } from './generator.ts'
import { pagesOfMethods } from './method-pages.ts'
import { methodTables } from './method-tables.ts'
import { openApi } from './openapi.ts'
import { recipes } from './recipes.ts'
import { skill } from './skill.ts'

/** The generators that need no build. */
export const generators: readonly Generator[] = [
  entryPointFiles,
  argumentDescriptions,
  openApi,
  pagesOfMethods,
  methodTables,
  recipes,
  skill,
]
