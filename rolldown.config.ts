import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { build } from 'esbuild'
import type { OutputOptions, Plugin, RolldownOptions } from 'rolldown'
import { choiceOutputOf, command, entryPoints, outputOf, runtimeChoices } from './scripts/entry-points.ts'

const { schemas = '', ...entries } = Object.fromEntries(entryPoints.map((entry) => [outputOf(entry), entry.source]))
const choices = Object.fromEntries(
  runtimeChoices.flatMap((choice) => [
    [choiceOutputOf(choice, 'node'), choice.node],
    [choiceOutputOf(choice, 'default'), choice.default],
  ]),
)
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
  resolveId: (name) => (Object.hasOwn(FIRST_USES, name) ? `first-use:${name}` : undefined),
  async load(id) {
    const name = id.replace(/^first-use:/, '')
    const [imported, use] = FIRST_USES[name] ?? []
    if (name === id) return undefined
    const { outputFiles } = await build({
      stdin: {
        contents: `import { ${imported} as imported } from '${name}'\nvalue = imported`,
        resolveDir: import.meta.dirname,
      },
      bundle: true,
      write: false,
      format: 'iife',
      target: 'es2022',
      platform: 'neutral',
    })
    const load = outputFiles.map(({ text }) => text).join('')
    return `let value\nfunction used() { if (value === undefined) { ${load} }\nreturn value }\n${use}`
  },
}

/** Some runtimes have the modules of Node only under these names. */
const addNodeProtocol: Plugin = {
  name: 'add-node-protocol',
  resolveId: (name) =>
    isBuiltin(name)
      ? { id: `node:${name.replace(/^node:/, '')}`, external: true, moduleSideEffects: false }
      : undefined,
}

/** With `DEBUG` set, the proxy agent would print the password of the proxy. */
const withoutDebug: Plugin = {
  name: 'without-debug',
  resolveId: (name) => (name === 'debug' ? 'without-debug' : undefined),
  load: (id) => (id === 'without-debug' ? 'export default () => () => undefined' : undefined),
}

/** Writes which modules are in which file, in the format of esbuild, for the notices. */
const writeMetafile: Plugin = {
  name: 'write-metafile',
  generateBundle({ format }, bundle) {
    const outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }> = {}
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue
      const inputs = Object.entries(chunk.modules).map(([id, { renderedLength }]) => [
        id,
        { bytesInOutput: renderedLength },
      ])
      outputs[chunk.fileName] = { inputs: Object.fromEntries(inputs) }
    }
    this.emitFile({ type: 'asset', fileName: `metafile-${format}.json`, source: JSON.stringify({ outputs }) })
  },
}

/**
 * The files in which entry points and command share modules. A module belongs to the first that matches it or one that imports
 * it. Few files load faster than many.
 */
const SHARED_FILES: Readonly<Record<string, RegExp>> = {
  shared: /\/src\/(?:shared|errors\/(?!any)|schemas\/read-user-activity|transports\/transport)\b/,
  // Only the console uses it. Bundlers keep it in every program that loads its file.
  registry: /\/zod\/v4\/core\/registries\b/,
  schemas: /\/src\/(?:schemas\/(?:fields|validate)|endpoints\/(?!argument|example))/,
  client: /\/src\/(?:client|call|settings)\b/,
  sqlite: /\/src\/sqlite\//,
  postgres: /\/src\/postgres\//,
  stores: /\/src\/webhook\/stores\/(?:delivery-store|late-claims)/,
  webhook: /\/src\/webhook\/(?:index|diagnose|event|receiver)\b/,
  bulk: /\/src\/bulk\/(?!postgres|ledger\/postgres)/,
  testing: /\/src\/testing\/(?!msw)/,
}

const output: OutputOptions = {
  dir: 'dist',
  exports: 'named',
  polyfillRequire: false,
  comments: { legal: true, annotation: true, jsdoc: false },
  codeSplitting: { groups: Object.entries(SHARED_FILES).map(([name, test]) => ({ name, test })) },
}
const esm: OutputOptions = { ...output, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' }
const cjs: OutputOptions = {
  ...output,
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
}

const common: RolldownOptions = {
  platform: 'node',
  transform: { define: constants(homepage), target: 'es2022' },
  plugins: [runAtFirstUse, addNodeProtocol, withoutDebug, writeMetafile],
  // The proxy agent loads kerberos only for Negotiate authentication, which the command does not support.
  external: ['msw', 'kerberos', ...runtimeChoices.map(({ name }) => name)],
}

/** The library and the command, which share code. */
export const esModules: RolldownOptions = {
  ...common,
  input: { ...entries, ...choices, 'cli/main': command.source },
  output: esm,
}

export default [
  esModules,
  { ...common, input: { ...entries, ...choices }, output: cjs },
  // Partners who import the schemas get those of the zod that they have installed.
  {
    ...common,
    input: { schemas },
    plugins: [],
    external: /^zod\b/,
    output: [esm, cjs].map((given) => ({ ...given, codeSplitting: false })),
  },
] satisfies RolldownOptions[]
