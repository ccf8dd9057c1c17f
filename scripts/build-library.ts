/**
 * Builds what partners import: `dist/*.js` as ES modules, `dist/cjs/*.js` as CommonJS. Both have the same files with nearly the same
 * text. npm sorts the files of a tarball by their last name, so that the two forms of a file are neighbours, and gzip, which
 * looks back 32 kB, writes the second one for next to nothing: hence the parts.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { extname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import { type OutputOptions, type Plugin, rollup } from 'rollup'
import { minify } from 'terser'
import {
  choiceOutputOf,
  type EntryPoint,
  entryPoints,
  outputOf,
  type RuntimeChoice,
  runtimeChoices,
} from './entry-points.ts'
import { partOf } from './parts.ts'
import { pathTo } from './repository.ts'
import { shorten } from './shorten.ts'

/** Where a module is, from the root of the repository. */
const nameOf = (id: string): string => relative(pathTo('.'), id).replaceAll('\\', '/')

/**
 * At its start ky looks for what it can offer: for `FormData` and streams, which loads all of `fetch` on Node 20 and takes
 * longer than the rest of the client, and for `AbortController`, of which it would make one for each request. It gets
 * neither body nor signal from us, so in that one file of it the answer is no.
 */
const KY_QUESTIONS = 'node_modules/ky/distribution/core/constants.js'
const NO_TO_KY = Object.fromEntries(
  ['AbortController', 'ReadableStream', 'FormData'].map((name) => [`globalThis.${name}`, undefined]),
)

/** terser works the answers out, so that Rollup leaves out the code for yes. */
async function answered(questions: string): Promise<string> {
  const { code } = await minify(questions, {
    module: true,
    mangle: false,
    compress: { global_defs: NO_TO_KY, pure_getters: true },
    format: { preserve_annotations: true },
  })
  if (code === undefined) throw new Error(`terser gave no code for ${KY_QUESTIONS}`)
  return code
}

/** Finds packages as Node does, and takes TypeScript for JavaScript with types. */
const modules: Plugin = {
  name: 'modules',
  resolveId: (id, importer) =>
    importer === undefined || id.startsWith('.') ? null : fileURLToPath(import.meta.resolve(id)),
  async load(id) {
    const loader = extname(id) === '.ts' ? 'ts' : 'js'
    const { code } = await transform(await readFile(id, 'utf8'), { loader, target: 'es2022' })
    return nameOf(id) === KY_QUESTIONS ? answered(code) : code
  },
}

/** Puts above each module the file it comes from, for those who read a stack. */
const headings: Plugin = {
  name: 'headings',
  renderChunk(code, { modules }) {
    let done = ''
    let rest = code
    for (const [id, { code: part }] of Object.entries(modules)) {
      if (part === null || part === '') continue
      const at = rest.indexOf(part)
      if (at === -1) throw new Error(`${id} is not in its file as it was rendered`)
      done += `${rest.slice(0, at)}// ${nameOf(id)}\n${part}`
      rest = rest.slice(at + part.length)
    }
    return { code: done + rest, map: null }
  },
}

const shortening: Plugin = {
  name: 'shortening',
  renderChunk: async (code) => ({ code: await shorten(code), map: null }),
}

const output: OutputOptions = {
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
  minifyInternalExports: false,
  // What a file needs is named in it alone: no `import` of what its own imports need.
  hoistTransitiveImports: false,
  externalLiveBindings: false,
  esModule: false,
  // Node's own modules are what their default import stands for; the others are taken by the names of what they export.
  interop: (id) => (id?.startsWith('node:') ? 'default' : 'esModule'),
  plugins: [headings, shortening],
}

/**
 * Only `imports` of the nearest package.json are looked at, and that of `dist/cjs` has none: other tools than Node expect
 * them in the one of the package. So CommonJS asks for a choice by way of a file that stands outside.
 */
const bridgeOf = ({ name }: RuntimeChoice): string => `${name.slice('#'.length)}.cjs`
const bridges = Object.fromEntries(runtimeChoices.map((choice) => [choice.name, `../${bridgeOf(choice)}`]))

async function build(
  input: Readonly<Record<string, string>>,
  external: readonly string[],
  manualChunks: (id: string) => string | undefined,
): Promise<void> {
  const names = runtimeChoices.map(({ name }): string => name)
  const bundle = await rollup({
    input: Object.fromEntries(Object.entries(input).map(([name, source]) => [name, pathTo(source)])),
    // The runtime that imports us chooses among what has several forms, through `imports` in package.json.
    external: (id) => id.startsWith('node:') || names.includes(id) || external.includes(id),
    // As package.json says of ours, and the bundled packages of theirs.
    treeshake: { moduleSideEffects: false },
    plugins: [modules],
    onLog(_level, { code, message, ids = [] }) {
      const isOfOthers = code === 'CIRCULAR_DEPENDENCY' && ids.every((id) => id.includes('node_modules'))
      if (!isOfOthers) throw new Error(message)
    },
  })
  await bundle.write({ ...output, manualChunks, format: 'es', dir: pathTo('dist') })
  await bundle.write({ ...output, manualChunks, format: 'cjs', dir: pathTo('dist/cjs'), paths: bridges })
  await bundle.close()
}

const sources = (entries: readonly EntryPoint[]): Record<string, string> =>
  Object.fromEntries(entries.map((entry) => [outputOf(entry), entry.source]))

const choices = Object.fromEntries(
  runtimeChoices.flatMap((choice) =>
    (['node', 'default'] as const).map((side) => [choiceOutputOf(choice, side), choice[side]]),
  ),
)

/** Whoever imports the schemas works with zod, and gets those of the zod they have installed. */
const withInstalledZod = entryPoints.filter(({ name }) => name === './schemas')
const others = entryPoints.filter((entry) => !withInstalledZod.includes(entry))

// ESM-only packages can't be required by Jest in CommonJS, so they travel inside our files. The part of zod that reads
// answers does so for the sake of the start: importing zod's own files takes longer than all the rest.
await build({ ...sources(others), ...choices }, ['msw'], (id) => partOf(nameOf(id)))
await build(sources(withInstalledZod), ['zod', 'zod/mini'], () => undefined)
await writeFile(pathTo('dist/cjs/package.json'), '{ "type": "commonjs", "sideEffects": false }\n')
for (const choice of runtimeChoices) {
  await writeFile(pathTo(`dist/${bridgeOf(choice)}`), `module.exports = require('${choice.name}')\n`)
}
