import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Capability } from './suite/behaviour.ts'

/** The folder in which the runtimes are installed. */
export const RUNTIMES_FOLDER = fileURLToPath(new URL('.', import.meta.url))

/** A runtime on which the package is tested. */
export interface Runtime {
  /** The name for `--only`. */
  readonly name: string
  /** How the runtime loads the suite. */
  readonly host: 'process' | 'workerd'
  /** The path of the binary, which installation.ts installs. */
  readonly binary: string
  /** Arguments of the binary before the file. */
  readonly args?: readonly string[]
  /** The expected HMAC implementation: node:crypto, or portable. */
  readonly hmac: 'node' | 'portable'
  /** The parts of the environment that it lacks. Behaviours that need them are skipped. */
  readonly lacks: readonly Capability[]
}

const installed = (path: string): string => join(RUNTIMES_FOLDER, 'node_modules', path)

const processHost = (name: string, path = `${name}/bin/node`): Runtime => ({
  name,
  host: 'process',
  binary: installed(path),
  hmac: 'node',
  // Node's own server is node:http.
  lacks: ['serveFetch'],
})

export const RUNTIMES: readonly Runtime[] = [
  processHost('node22.13'),
  processHost('node22'),
  processHost('node24'),
  processHost('node26'),
  { ...processHost('bun', '@oven/bun-linux-x64/bin/bun'), lacks: [] },
  {
    ...processHost('deno', '@deno/linux-x64-glibc/deno'),
    args: ['run', '--allow-all', '--no-remote', '--no-lock'],
    lacks: [],
  },
  {
    name: 'workerd',
    host: 'workerd',
    binary: installed('@cloudflare/workerd-linux-64/bin/workerd'),
    hmac: 'portable',
    lacks: ['commonJs', 'serveNode'],
  },
]
