import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Capability } from './suite/behaviour.ts'

/** This folder. */
export const HOME = fileURLToPath(new URL('.', import.meta.url))

/** A runtime the package is tested on. */
export interface Runtime {
  /** The name that `--only` takes. */
  readonly name: string
  /** How the suite gets into it. */
  readonly host: 'process' | 'workerd'
  /** The binary, or undefined where there is none. */
  binary(): string | undefined
  /** What puts it there. */
  readonly remedy: string
  /** What stands between the binary and the file to run. */
  readonly args?: readonly string[]
  /** The HMAC it has to take: that of node:crypto, or the portable one. */
  readonly hmac: 'node' | 'portable'
  /** What it cannot give the suite. Behaviours that need it are not run, and counted as such. */
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
