import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Metafile, type Plugin } from 'esbuild'
import { commands } from './entry-points.ts'
import { partOf } from './parts.ts'
import { pathTo } from './repository.ts'

/** Where the command takes the rest of the package from. */
type Library =
  /** By the names a partner uses, from the files beside it: they are loaded only when a command needs them. */
  | 'installed'
  /** From the source, for tests that run before anything is built. */
  | 'source'

/** commander is CommonJS, whose `require` of Node's own modules esbuild looks for in vain in a module, in one file for all. */
const REQUIRE =
  "import{createRequire as createRequireHere}from'node:module';const require=createRequireHere(import.meta.url);"

/**
 * Builds the command: `cli.js`, which loads one chunk of the folder `cli` for each command. Everything that it is made of
 * and the package does not have itself goes inside, so that partners install nothing for it; zod they have.
 *
 * @returns the files that went into it
 */
export async function buildCommand(directory: string, library: Library): Promise<readonly string[]> {
  await rm(join(directory, 'cli'), { recursive: true, force: true })
  const [command] = commands
  if (command === undefined) throw new Error('scripts/entry-points.ts names no command')
  const page = await buildPage()
  const { metafile, outputFiles } = await build({
    absWorkingDir: pathTo('.'),
    entryPoints: { cli: command.source },
    outdir: directory,
    chunkNames: 'cli/[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: library === 'installed',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    legalComments: 'none',
    external: library === 'installed' ? ['campaign-client', 'campaign-client/*', 'zod'] : ['msw'],
    plugins: [
      provide('#console-page', `export default ${JSON.stringify(page.texts)}`),
      // Kerberos at a proxy, which nobody can ask the command for.
      provide('proxy-agent-negotiate', 'export const createNegotiateAuth = undefined'),
      // What a proxy is told, for those who look after the agent itself.
      provide('debug', 'export default () => () => {}'),
      // How wide emoji are, for templates of bars: ours draws itself.
      provide('string-width', 'module.exports = (text) => text.length'),
      // Several bars at once: there is one.
      provide('./lib/multi-bar', ''),
      ...(library === 'installed' ? [installedCatalogue] : []),
    ],
    logLevel: 'warning',
    metafile: true,
    write: false,
  })
  for (const { path, text } of outputFiles) {
    await mkdir(dirname(path), { recursive: true })
    const isProgram = text.startsWith('#!')
    await writeFile(path, text.includes('typeof require') ? REQUIRE + text : text, { mode: isProgram ? 0o755 : 0o644 })
  }
  return [...Object.keys(metafile.inputs), ...page.inputs]
}

/** The page of the console as two texts, which travel inside the command: nothing on a disk is served. */
async function buildPage(): Promise<{ texts: Readonly<Record<string, string>>; inputs: readonly string[] }> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: pathTo('.'),
    entryPoints: { script: 'src/console/page/main.tsx', style: 'src/console/page/style.css' },
    outdir: 'page',
    bundle: true,
    minify: true,
    write: false,
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    format: 'esm',
    target: 'es2022',
    metafile: true,
  })
  const textOf = (ending: string): string => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? ''
  return { texts: { script: textOf('.js'), style: textOf('.css') }, inputs: Object.keys((metafile as Metafile).inputs) }
}

/** The catalogue has no public name, but a file of its own in `dist`: the command would bring all schemas once more. */
const installedCatalogue: Plugin = {
  name: 'installed-catalogue',
  setup({ onResolve }) {
    const path = `../${partOf('src/endpoints/index.ts')}.js`
    onResolve({ filter: /\/endpoints\/index\.ts$/ }, () => ({ path, external: true }))
  },
}

/** Gives a module of this text for a name. */
const provide = (name: string, contents: string): Plugin => ({
  name,
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^${name}$`) }, ({ path }) => ({ path, namespace: name }))
    onLoad({ filter: /.*/, namespace: name }, () => ({ contents }))
  },
})

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildCommand(pathTo('dist'), 'installed')
