import { defineConfig } from 'tsup'
import { entryPoints, outputOf } from './scripts/entry-points.ts'

/** The declarations; `scripts/build-library.ts` builds the code. */
export default defineConfig({
  target: 'es2022',
  platform: 'neutral',
  outDir: 'dist',
  format: 'cjs',
  entry: Object.fromEntries(entryPoints.map((entry) => [outputOf(entry), entry.source])),
  dts: {
    only: true,
    // TypeScript 6 refuses the baseUrl that tsup's declaration build passes on unless told so.
    compilerOptions: { ignoreDeprecations: '6.0', stripInternal: true },
  },
})
