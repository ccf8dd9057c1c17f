#!/usr/bin/env node
import { version } from '../../package.json'

// Print the version without loading the commands.
const [first, ...others] = process.argv.slice(2)
if ((first === '--version' || first === '-V') && others.length === 0) {
  process.stdout.write(`${version}\n`)
} else {
  const { run } = await import('./run.ts')
  process.exitCode = await run(process.argv.slice(2), process)
  // A connection to a proxy that does not respond would keep the process running.
  process.exit()
}
