/**
 * Runs tests with another Node.js version: `npm run test:node -- 22.13` the unit set and NATIVE, `npm run test:node -- 22.13 test`
 * all tests. Further arguments go to Vitest.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, dirname } from 'node:path'
import { installRuntimes } from '../test/runtimes/installation.ts'
import { RUNTIMES } from '../test/runtimes/runtimes.ts'
import { pathTo } from './repository.ts'

const [version, ...args] = process.argv.slice(2)
const nodes = RUNTIMES.filter(({ name }) => name.startsWith('node'))
const chosen = nodes.find(({ name }) => name === `node${version}`)
if (chosen === undefined) {
  const versions = nodes.map(({ name }) => name.slice('node'.length)).join(', ')
  console.error(`test:node: name one of ${versions} as the first argument`)
  process.exit(2)
}

/** An integration test of each part that Node.js implements: SQLite, sockets, processes. */
const NATIVE = [
  'test/bulk/file-ledger-locks.integration.test.ts',
  'test/webhook/examples/servers.integration.test.ts',
  'test/webhook/stores/sqlite-crash.integration.test.ts',
]

await installRuntimes()
const { binary } = chosen
process.exitCode = args.length > 0 ? await run(args) : (await run(['--project=unit'])) || (await run(NATIVE))

/** Runs Vitest. Resolves to its exit code. */
async function run(args: readonly string[]): Promise<number> {
  // The compiler checks the same types with every Node.js version.
  const command = [pathTo('node_modules/vitest/vitest.mjs'), 'run', '--typecheck=false', ...args]
  // Programs that tests start by `node` get this version, too.
  const env = { ...process.env, PATH: `${dirname(binary)}${delimiter}${process.env.PATH}` }
  const child = spawn(binary, command, { cwd: pathTo('.'), env, stdio: 'inherit' })
  const [code] = await once(child, 'close')
  return code ?? 1
}
