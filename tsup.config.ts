import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { defineConfig, type Options } from 'tsup'
import { choiceOutputOf, command, entryPoints, outputOf, runtimeChoices } from './scripts/entry-points.ts'

type Plugin = NonNullable<Options['esbuildPlugins']>[number]

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

/**
 * Packages that run at their first use: what is used of them, and the code that uses it. On import, ky would create a `Request`
 * and look for `FormData`, which loads the HTTP stack of Node. Both create decoders or encoders of text, which jsdom lacks.
 */
const FIRST_USES: Readonly<Record<string, readonly [imported: string, use: string]>> = {
  ky: ['default', 'export default { create: (options) => used().create(options) }'],
  'jose/jwt/decode': ['decodeJwt', 'export const decodeJwt = (token) => used()(token)'],
}

/** Puts each package into one function. A required module would keep all its exports, and have a function for each file. */
const runAtFirstUse: Plugin = {
  name: 'run-at-first-use',
  setup(build) {
    const namespace = 'first-use'
    const filter = new RegExp(`^(?:${Object.keys(FIRST_USES).join('|')})$`)
    build.onResolve({ filter }, ({ path }) => ({ path, namespace }))
    build.onLoad({ filter, namespace }, async ({ path }) => {
      const [imported, use] = FIRST_USES[path] ?? []
      const { outputFiles } = await build.esbuild.build({
        stdin: {
          contents: `import { ${imported} as imported } from '${path}'\nvalue = imported`,
          resolveDir: import.meta.dirname,
        },
        bundle: true,
        minify: true,
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

/** Some runtimes have the modules of Node only under these names. */
const addNodeProtocol: Plugin = {
  name: 'add-node-protocol',
  setup(build) {
    build.onResolve({ filter: /^[a-z]/ }, ({ path }) =>
      isBuiltin(path) ? { path: `node:${path.replace(/^node:/, '')}`, external: true, sideEffects: false } : undefined,
    )
  },
}

/** With `DEBUG` set, the proxy agent would print the password of the proxy. */
const withoutDebug: Plugin = {
  name: 'without-debug',
  setup(build) {
    const namespace = 'without-debug'
    build.onResolve({ filter: /^debug$/ }, ({ path }) => ({ path, namespace }))
    build.onLoad({ filter: /./, namespace }, () => ({ contents: 'export default () => () => undefined' }))
  },
}

/** Removes the doc comments that esbuild keeps. The declarations have those of the public API. */
const removeComments: NonNullable<Options['plugins']>[number] = {
  name: 'remove-comments',
  renderChunk: (code) => ({ code: code.replaceAll(/^[ \t]*\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n/gm, '') }),
}

const library: Options = {
  define: constants(homepage),
  target: 'es2022',
  removeNodeProtocol: false,
  splitting: true,
  // Chunks have no side effects. Without treeshake, tsup converts CommonJS chunks by a tool that breaks private fields.
  treeshake: { moduleSideEffects: 'no-external' },
  // The notices name the bundled packages.
  metafile: true,
  // The part of zod that reads responses loads faster than all of zod.
  noExternal: ['zod'],
  // The proxy agent loads kerberos only for Negotiate authentication, which the command does not support.
  external: ['msw', 'kerberos', ...runtimeChoices.map(({ name }) => name)],
  esbuildPlugins: [runAtFirstUse, addNodeProtocol, withoutDebug],
  plugins: [removeComments],
}

/** The library and the command, which share code. */
export const esModules: Options = {
  ...library,
  name: 'library',
  format: 'esm',
  entry: { ...others, ...choices, 'cli/main': command.source },
}

/** The console's page, which the command serves. */
export const consolePage: Options = {
  name: 'console',
  entry: { page: 'src/console/page/main.tsx', style: 'src/console/page/style.css' },
  outDir: 'dist/console',
  format: 'esm',
  target: 'es2022',
  platform: 'browser',
  tsconfig: 'src/tsconfig.page.json',
  minify: true,
  metafile: true,
}

export default defineConfig([
  esModules,
  { ...library, name: 'library', format: 'cjs', entry: { ...others, ...choices } },
  // Partners who import the schemas get those of the zod that they have installed.
  { ...library, name: 'schemas', format: ['esm', 'cjs'], entry: { schemas }, noExternal: [], metafile: false },
  {
    name: 'declarations',
    entry: entries,
    format: ['esm', 'cjs'],
    dts: { only: true, compilerOptions: { stripInternal: true } },
  },
  consolePage,
])
