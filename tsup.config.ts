import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { transform } from 'esbuild'
import { defineConfig, type Options } from 'tsup'
import { choiceOutputOf, type EntryPoint, entryPoints, outputOf, runtimeChoices } from './scripts/entry-points.ts'
import { shorten } from './scripts/shorten.ts'

const CODE = /\.c?js$/

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

/**
 * At its start ky looks for what it can offer: for `FormData` and streams, which loads all of `fetch` on Node 20 and takes
 * longer than the rest of the client, and for `AbortController`, of which it would make one for each request. It gets
 * neither body nor signal from us, so in that one file of it the answer is no.
 */
const kyStartsWithoutFetch: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'ky-starts-without-fetch',
  setup(build) {
    build.onLoad({ filter: /[\\/]ky[\\/]distribution[\\/]core[\\/]constants\.js$/ }, async ({ path }) => {
      const names = ['AbortController', 'ReadableStream', 'FormData'].map((name) => `globalThis.${name}`)
      const define = Object.fromEntries(names.map((name) => [name, 'undefined']))
      return { contents: (await transform(await readFile(path, 'utf8'), { define })).code }
    })
  },
}

/**
 * The declarations of both formats are the same, so only those for CommonJS are written out, and those for ESM refer to
 * them: an ES module may take from CommonJS, the other way round is an error before TypeScript 5.8. Besides, a class
 * imported in one format is then the same type as in the other.
 */
async function referToDeclarations(): Promise<void> {
  for (const entry of entryPoints) {
    const file = `dist/${outputOf(entry)}.d.ts`
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, `export * from './${outputOf(entry).split('/').at(-1)}.cjs'\n`)
  }
}

const common: Options = {
  target: 'es2022',
  platform: 'neutral',
  outDir: 'dist',
  // One copy of every module for all entries, so that an error class is one, whichever entry it came from.
  splitting: true,
  // Rollup writes the CommonJS chunks: tsup's own way, sucrase, turns `?.` into function calls and breaks on es2022.
  treeshake: true,
  // The runtime that imports us chooses among what has several forms, through `imports` in package.json.
  external: [/^node:/, ...runtimeChoices.map(({ name }) => name), 'msw'],
  removeNodeProtocol: false,
  plugins: [
    {
      name: 'shorten',
      renderChunk: async (code, { path }) => (CODE.test(path) ? { code: await shorten(code) } : undefined),
    },
  ],
}

const bundled: Options = {
  ...common,
  // ESM-only packages can't be required by Jest in CommonJS, so they travel inside our files. The part of zod that reads
  // answers does so for the sake of the start: importing zod's own files takes longer than all the rest.
  noExternal: ['ky', 'jose', '@noble/hashes', 'zod'],
  esbuildPlugins: [kyStartsWithoutFetch],
}

export default defineConfig([
  // tsup tells no success of a build that is declarations only.
  { ...bundled, format: ['esm', 'cjs'], entry: { ...sources(others), ...choices }, onSuccess: referToDeclarations },
  { ...common, format: ['esm', 'cjs'], entry: sources(withInstalledZod) },
  {
    ...common,
    format: 'cjs',
    entry: sources(entryPoints),
    dts: {
      only: true,
      // TypeScript 6 refuses the baseUrl that tsup's declaration build passes on unless told so.
      compilerOptions: { ignoreDeprecations: '6.0', stripInternal: true },
    },
  },
])
