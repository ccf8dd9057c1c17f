import { entryPointFiles } from './entry-points.ts'
import type { Generator } from './generator.ts'

/** Every generator whose files follow from the source alone. */
export const generators: readonly Generator[] = [entryPointFiles]
