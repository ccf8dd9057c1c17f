import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Capability } from './suite/behaviour.ts'

/** This folder. */
export const HOME = fileURLToPath(new URL('.', import.meta.url))

/** A runtime on which the package is tested. */
export interface Runtime {
  /** The name for `--only`. */
  readonly name: string
  /** How the runtime loads the suite. */
  readonly host: 'process' | 'workerd'
  /** The path of the binary; `undefined` if it is not installed. */
  binary(): string | undefined
  /** How to install the runtime. */
  readonly remedy: string
  /** Arguments of the binary before the file. */
  readonly args?: readonly string[]
  /** The expected HMAC implementation: node:crypto, or portable. */
  readonly hmac: 'node' | 'portable'
  /** The parts of the environment that it lacks. Behaviours that need them are skipped. */
  readonly lacks: readonly Capability[]
}

const NPM_CI = 'npm ci --prefix test/runtimes'

const installed = (path: string) => (): string | undefined => {
  const file = join(HOME, 'node_modules', path)
  return existsSync(file) ? file : undefined
}

const node = (name: string): Runtime => ({
  name,
  host: 'process',
  binary: installed(`${name}/bin/node`),
  remedy: NPM_CI,
  hmac: 'node',
  // Node's own server is node:http.
  lacks: ['serveFetch'],
})

export const RUNTIMES: readonly Runtime[] = [
  { ...node('node'), binary: () => process.execPath, remedy: 'install Node 20 or later' },
  node('node22'),
  node('node24'),
  node('node26'),
  { ...node('bun'), binary: installed('@oven/bun-linux-x64/bin/bun'), lacks: [] },
  {
    ...node('deno'),
    binary: installed('@deno/linux-x64-glibc/deno'),
    args: ['run', '--allow-all', '--no-remote', '--no-lock'],
    lacks: [],
  },
  {
    name: 'workerd',
    host: 'workerd',
    binary: installed('@cloudflare/workerd-linux-64/bin/workerd'),
    remedy: NPM_CI,
    hmac: 'portable',
    lacks: ['commonJs', 'serveNode'],
  },
]
