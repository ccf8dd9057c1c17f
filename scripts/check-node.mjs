/**
 * Ends with one line when the running Node.js is too old for the tools of this repository. Plain JavaScript, so that any
 * Node.js can run it: without its install script, the package `node` brings none, and npm runs the machine's own.
 */
import { readFileSync } from 'node:fs'

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const [major, minor] = engines.node.slice('>='.length).split('.').map(Number)
const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number)
if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
  console.error(
    `this needs Node.js ${major}.${minor} or later, and found ${process.version}: run "npm ci" without --ignore-scripts, which installs Node.js 24, or install it yourself`,
  )
  process.exit(1)
}
