import { cpSync, existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CommandResult, runCommand } from './command.ts'
import { packPackage, ROOT } from './packed-package.ts'

/**
 * Installs the packed tarball into each project in test/consumers and runs its tests. Each project is copied to a temporary
 * folder first, where it can't find the repository's node_modules. Arguments choose projects by name.
 */
const CONSUMERS = join(ROOT, 'test/consumers')
const MAX_CONCURRENT = 2
const NPM_FLAGS = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']

interface Outcome {
  readonly name: string
  readonly passed: boolean
  readonly seconds: number
  readonly output: string
}

const { tarball, manifest } = await packPackage()
const all = readdirSync(CONSUMERS).filter((name) => existsSync(join(CONSUMERS, name, 'package.json')))
const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !all.includes(name))
if (unknown.length > 0) throw new Error(`unknown consumer ${unknown.join(', ')}; use ${all.join(', ')}`)

const outcomes: Outcome[] = []
const waiting = chosen.length > 0 ? chosen : [...all]
const total = waiting.length
await Promise.all(
  Array.from({ length: MAX_CONCURRENT }, async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const outcome = await testConsumer(name)
      outcomes.push(outcome)
      console.log(`${outcome.passed ? 'ok    ' : 'FAILED'} ${name.padEnd(18)} ${outcome.seconds.toFixed(1)} s`)
      if (!outcome.passed) console.log(outcome.output.replace(/^/gm, '         '))
    }
  }),
)
const failed = outcomes.filter(({ passed }) => !passed).length
console.log(failed === 0 ? `${total} consumers passed` : `${failed} of ${total} consumers failed`)
process.exitCode = failed === 0 && total > 0 ? 0 : 1

async function testConsumer(name: string): Promise<Outcome> {
  const cwd = mkdtempSync(join(tmpdir(), `consumer-${name}-`))
  const started = performance.now()
  const finish = (passed: boolean, output: string): Outcome => {
    rmSync(cwd, { recursive: true, force: true })
    return { name, passed, seconds: (performance.now() - started) / 1000, output }
  }
  cpSync(join(CONSUMERS, name), cwd, { recursive: true, filter: (source) => !source.includes('node_modules') })
  const steps: readonly (() => Promise<CommandResult>)[] = [
    () => runCommand('npm', ['ci', ...NPM_FLAGS], { cwd }),
    () => runCommand('npm', ['install', '--no-save', '--no-package-lock', ...NPM_FLAGS, tarball], { cwd }),
    () => runCommand('npm', ['test', '--silent'], { cwd, env: { NODE_OPTIONS: '', NODE_PATH: '' } }),
  ]
  let output = ''
  for (const step of steps) {
    const result = await step()
    output += result.output
    if (result.code !== 0) return finish(false, output)
  }
  if (lstatSync(join(cwd, 'node_modules', manifest.name)).isSymbolicLink()) {
    return finish(false, 'npm linked the package instead of installing it')
  }
  return finish(true, output)
}
