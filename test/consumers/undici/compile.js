import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

const packagesLike = (pattern) => readdirSync('node_modules').filter((name) => pattern.test(name))
const source = readFileSync('use.ts', 'utf8')
let compiled = 0
for (const undici of packagesLike(/^undici-\d$/)) {
  for (const nodeTypes of packagesLike(/^node-types-\d+$/)) {
    writeFileSync('out.ts', source.replace("from 'undici'", `from '${undici}'`))
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2022'],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      // The types of Node include the types of another undici, which conflict with this one.
      skipLibCheck: true,
    }
    const files = ['out.ts', `node_modules/${nodeTypes}/index.d.ts`]
    writeFileSync('tsconfig.json', JSON.stringify({ compilerOptions, files }))
    try {
      execFileSync(process.execPath, ['node_modules/typescript/bin/tsc'], { encoding: 'utf8' })
      compiled++
    } catch (error) {
      console.error(`${undici}, ${nodeTypes}:\n${error.stdout || error.message}`)
      process.exitCode = 1
    }
  }
}
if (compiled !== 6) process.exitCode = 1
console.log(`${compiled} of 6 compilations passed`)
