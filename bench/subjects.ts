import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { pool, type Subject } from './harness.ts'

const root = new URL('../', import.meta.url)
/** Below bench/, so that the peers are found from there; in node_modules, so that nothing else finds it. */
const compiled = new URL('node_modules/.cache/bench/', import.meta.url)

/**
 * Compiles this folder to plain JavaScript for plain Node: a loader would change what is measured. The package is the
 * built one, as it is published.
 */
export async function compileBench(): Promise<void> {
  const files = (await readdir(new URL('.', import.meta.url))).filter((name) => name.endsWith('.ts'))
  await build({
    entryPoints: files.map((name) => fileURLToPath(new URL(name, import.meta.url))),
    outdir: fileURLToPath(compiled),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    plugins: [
      {
        name: 'the built package',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^campaign-client/ }, ({ path }) => {
            const entry = path.replace(/^campaign-client/, '').slice(1) || 'index'
            return { path: fileURLToPath(new URL(`dist/${entry}.js`, root)), external: true }
          }),
      },
    ],
  })
}

/**
 * Measures a subject, named by its file: with one rival of the first contestant after the other, each in so many
 * processes. Without a number of processes, in one that starts others as it needs them.
 *
 * @throws Error when one ends without a result.
 */
export async function measureSubject(name: string, processes: number | undefined): Promise<Subject> {
  const first = await measureOnce(name, 1)
  if (processes === undefined) return first
  const rivals = Math.max(...first.groups.map(({ results }) => results.length)) - 1
  const others: Subject[] = []
  for (let pair = 1; pair < processes * rivals; pair++) others.push(await measureOnce(name, 1 + (pair % rivals)))
  return pool([first, ...others])
}

async function measureOnce(name: string, rival: number): Promise<Subject> {
  const child = fork(fileURLToPath(new URL('measure.mjs', compiled)), [name, `${rival}`], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    execArgv: [],
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`bench/${name}.ts ended with ${code} and no result`)
  })
  const [subject] = await Promise.race([once(child, 'message'), ended])
  return subject as Subject
}
