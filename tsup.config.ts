import { readFileSync } from 'node:fs'
import { defineConfig, type Options } from 'tsup'
import { choiceOutputOf, entryPoints, outputOf, command as program, runtimeChoices } from './scripts/entry-points.ts'

const entries = Object.fromEntries(entryPoints.map((entry) => [outputOf(entry), entry.source]))
const choices = Object.fromEntries(
  runtimeChoices.flatMap((choice) => [
    [choiceOutputOf(choice, 'node'), choice.node],
    [choiceOutputOf(choice, 'default'), choice.default],
  ]),
)
const { schemas = '', ...others } = entries
const { homepage } = JSON.parse(readFileSync('package.json', 'utf8')) as { homepage?: string }

/** The constants that the build writes into the code. */
export const constants = (homepage: string | undefined): Record<string, string> => ({
  HOMEPAGE: homepage === undefined ? 'undefined' : JSON.stringify(homepage.replace(/\/$/, '')),
})

/** Removes the comments above members of classes, which esbuild keeps. The declarations have those of the public API. */
const removeComments: NonNullable<Options['plugins']>[number] = {
  name: 'remove-comments',
  renderChunk: (code) => ({ code: code.replaceAll(/^[ \t]*\/\*\*[\s\S]*?\*\/\n/gm, '') }),
}

/**
 * Packages that run at their first use: what is used of them, and the code that uses it. On import, ky would create a `Request`
 * and look for `FormData`, which loads the HTTP stack of Node. Both create decoders or encoders of text, which jsdom lacks.
 */
const FIRST_USES: Readonly<Record<string, readonly [imported: string, use: string]>> = {
  ky: ['default', 'export default { create: (options) => used().create(options) }'],
  'jose/jwt/decode': ['decodeJwt', 'export const decodeJwt = (token) => used()(token)'],
}

/** Puts each package into one function. A required module would keep all its exports, and have a function for each file. */
const runAtFirstUse: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'run-at-first-use',
  setup(build) {
    const namespace = 'first-use'
    const resolveDir = import.meta.dirname
    const filter = new RegExp(`^(?:${Object.keys(FIRST_USES).join('|')})$`)
    build.onResolve({ filter }, ({ path }) => ({ path, namespace }))
    build.onLoad({ filter, namespace }, async ({ path }) => {
      const [imported, use] = FIRST_USES[path] ?? []
      const { outputFiles } = await build.esbuild.build({
        stdin: { contents: `import { ${imported} as imported } from '${path}'\nvalue = imported`, resolveDir },
        bundle: true,
        write: false,
        format: 'iife',
        target: 'es2022',
        platform: 'neutral',
      })
      const load = outputFiles.map(({ text }) => text).join('')
      return { contents: `let value\nfunction used() { if (value === undefined) { ${load} }\nreturn value }\n${use}` }
    })
  },
}

const library: Options = {
  plugins: [removeComments],
  esbuildPlugins: [runAtFirstUse],
  define: constants(homepage),
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'neutral',
  removeNodeProtocol: false,
  splitting: true,
  // Without it, tsup converts CommonJS chunks by a tool that breaks classes with private fields.
  treeshake: true,
}

/** Programs are smaller without white space and comments. Their metafiles name the bundled packages for the notices. */
const compact: Options = {
  metafile: true,
  esbuildOptions(options) {
    options.minifyWhitespace = true
    options.minifySyntax = true
  },
}

/** The command, one chunk per subcommand. It imports the package by its public names, as a partner does. */
export const command: Options = {
  ...compact,
  name: 'command',
  entry: { main: program.source },
  outDir: 'dist/cli',
  format: 'esm',
  target: 'node20',
  platform: 'node',
  splitting: true,
  // The installed zod would load its translations: most of the modules of a command.
  noExternal: ['zod'],
  external: [/^campaign-client/, 'kerberos'],
  // commander is CommonJS and requires modules of Node.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
}

/** The console's page, which the command serves. */
export const consolePage: Options = {
  ...compact,
  name: 'console',
  entry: { page: 'src/console/page/main.tsx', style: 'src/console/page/style.css' },
  outDir: 'dist/console',
  format: 'esm',
  target: 'es2022',
  platform: 'browser',
  tsconfig: 'src/tsconfig.page.json',
}

export default defineConfig([
  {
    ...library,
    name: 'library',
    entry: { ...others, ...choices },
    // Jest in CommonJS can't load packages that are ESM only. The part of zod that reads answers loads faster than all of zod.
    noExternal: ['ky', 'jose', '@noble/hashes', 'zod'],
    external: ['msw', ...runtimeChoices.map(({ name }) => name), /^node:/],
  },
  // Partners who import the schemas get those of the zod that they have installed.
  { ...library, name: 'schemas', entry: { schemas }, external: ['zod'] },
  {
    name: 'declarations',
    entry: entries,
    format: ['esm', 'cjs'],
    dts: { only: true, compilerOptions: { stripInternal: true } },
  },
  command,
  consolePage,
])
