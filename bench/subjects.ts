import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { pool, type Subject } from './harness.ts'

const root = new URL('../', import.meta.url)
/** This folder is in bench/, so that Node resolves the packages of bench/package.json. */
const compiled = new URL('node_modules/.cache/bench/', import.meta.url)

/** Compiles this folder to JavaScript, because a TypeScript loader would slow the measured code. Imports `dist`. */
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
 * Measures a subject: compares each rival with the first contestant.
 *
 * @param name - the name of the file
 * @param processes - how many processes each comparison uses
 * @throws Error when a process ends without a result
 */
export async function measureSubject(name: string, processes: number | undefined): Promise<Subject> {
  const first = await measureOnce(name, 1)
  if (processes === undefined) return first
  const rivals = Math.max(...first.groups.map(({ results }) => results.length)) - 1
  const others: Subject[] = []
  for (let pair = 1; pair < processes * rivals; pair++) others.push(await measureOnce(name, 1 + (pair % rivals)))
  return pool([first, ...others])
}

async function measureOnce(name: string, rivalIndex: number): Promise<Subject> {
  const child = fork(fileURLToPath(new URL('measure.mjs', compiled)), [name, `${rivalIndex}`], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    execArgv: [],
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`bench/${name}.ts exited with code ${code} and sent no result`)
  })
  const [subject] = await Promise.race([once(child, 'message'), ended])
  return subject as Subject
}
