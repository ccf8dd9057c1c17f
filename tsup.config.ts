import { defineConfig, type Options } from 'tsup'
import { entryPoints, outputOf } from './scripts/entry-points.ts'

/** The console's page, which the command serves. */
export const consolePage: Options = {
  name: 'console',
  entry: { page: 'src/console/page/main.tsx', style: 'src/console/page/style.css' },
  outDir: 'dist/console',
  format: 'esm',
  target: 'es2022',
  platform: 'browser',
  tsconfig: 'src/tsconfig.page.json',
  /** The notices name the bundled packages, which minified code does not. */
  metafile: true,
  esbuildOptions(options) {
    options.minifyWhitespace = true
    options.minifySyntax = true
  },
}

/** rolldown.config.ts builds the code of the library and of the command. */
export default defineConfig([
  {
    name: 'declarations',
    entry: Object.fromEntries(entryPoints.map((entry) => [outputOf(entry), entry.source])),
    format: ['esm', 'cjs'],
    dts: { only: true, compilerOptions: { stripInternal: true } },
  },
  consolePage,
])
