/**
 * Runs `npm run test:all` with another Node.js version: `npm run test:node -- 22.13`. Further arguments go to Vitest.
 */
import { spawn } from 'node:child_process'
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

await installRuntimes()
// The compiler checks the same types with every Node.js version.
const command = [pathTo('node_modules/vitest/vitest.mjs'), 'run', '--typecheck=false', ...args]
// Programs that tests start by `node` get this version, too.
const env = { ...process.env, PATH: `${dirname(chosen.binary)}${delimiter}${process.env.PATH}` }
const child = spawn(chosen.binary, command, { cwd: pathTo('.'), env, stdio: 'inherit' })
child.on('close', (code) => {
  process.exitCode = code ?? 1
})
