import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync } from 'node:fs'

const read = (path) => JSON.parse(readFileSync(path, 'utf8'))
const { dependencies } = read('node_modules/campaign-client/package.json')
const lowest = read('node_modules/zod-lowest/package.json').version
assert.equal(dependencies.zod, `^${lowest}`, 'the range of package.json starts with the lowest tested version')

const SETTINGS = '--module nodenext --target es2022 --lib es2022,dom,dom.iterable --strict --skipLibCheck'
for (const alias of ['zod-lowest', 'zod-newest']) {
  rmSync('node_modules/zod', { recursive: true, force: true })
  cpSync(`node_modules/${alias}`, 'node_modules/zod', { recursive: true })
  const tsc = ['node_modules/typescript/bin/tsc', 'use.mts', ...SETTINGS.split(' ')]
  try {
    execFileSync(process.execPath, tsc, { encoding: 'utf8' })
  } catch (error) {
    throw new Error(`${alias}:\n${error.stdout}`)
  }
  const printed = execFileSync(process.execPath, ['use.mjs'], { encoding: 'utf8' }).trim()
  assert.equal(printed, 'progress checked', alias)
}
