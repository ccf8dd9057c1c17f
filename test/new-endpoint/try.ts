/**
 * Adds a twelfth endpoint to a copy of the tree, with the edits that docs/design.md lists and no others:
 * `npm run test:new-endpoint`. Everything that is made of the catalogue has to know it then, and all of its tests to pass.
 * And each edit has to be missed when it is left out.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../package/packed-package.ts'
import { edits } from './edits.ts'
import { Scratch } from './scratch.ts'

const TESTS = [
  ...['test/docs', 'test/endpoints', 'test/schemas/exports.test.ts', 'test/client/requests.test.ts'],
  'test/testing/contract.test.ts',
]

/** The checks, quickest first. */
const checks: Readonly<Record<string, (scratch: Scratch) => Promise<string | undefined>>> = {
  generators: async (scratch) => failureOf(await scratch.run('tsx', 'scripts/generate.ts', '--source')),
  compiler: async (scratch) => failureOf(await scratch.run('tsx', 'scripts/typecheck.ts')),
  linter: async (scratch) => failureOf(await scratch.run('biome', 'check', '.')),
  'generated files': async (scratch) => missingFrom(scratch),
  tests: async (scratch) =>
    failureOf(await scratch.run('vitest', 'run', '--typecheck=false', '--testTimeout=120000', ...TESTS)),
  'runtime suite': async (scratch) => failureOf(await scratch.run('tsx', 'test/new-endpoint/runtime-calls.ts')),
}

/** What has to name the new endpoint in the end, and by which words. */
const FOLLOWS: Readonly<Record<string, readonly string[]>> = {
  'src/endpoints/types.ts': ['Badge, GetUserBadgesRequest, UserBadges'],
  'src/endpoints/operations.ts': ['./get-user-badges.ts'],
  'docs/openapi.json': ['"/user/badges"', '"UserBadges"', '"reward-ada-1"'],
  'docs/methods/getUserBadges.md': ['GET /user/badges', 'badges[].name'],
  'docs/methods.md': ['methods/getUserBadges.md', 'GET /user/badges'],
  'README.md': ['[`getUserBadges`](docs/methods/getUserBadges.md) | reads the badges of a user in a campaign | safe'],
}

let failed = 0
const say = (ok: boolean, what: string, detail = ''): void => {
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${what}`)
  if (!ok) {
    failed++
    console.log(detail.replace(/^/gm, '         '))
  }
}

const scratch = new Scratch()
try {
  say(isListed(), 'docs/design.md lists these edits, and no others')
  for (const edit of edits) scratch.apply(edit)
  const stale = failureOf(await scratch.run('vitest', 'run', '--typecheck=false', 'test/docs/generated.test.ts'))
  say(stale !== undefined, 'a test says that the generators have not been run')
  for (const [name, check] of Object.entries(checks)) {
    const problem = await check(scratch)
    say(problem === undefined, `with all edits: ${name}`, problem)
  }
  for (const edit of edits) {
    scratch.revoke(edit)
    const noticed = await firstFailure(scratch)
    say(noticed !== undefined, `without ${edit.place}: ${noticed ?? 'nobody noticed'}`)
    scratch.apply(edit)
  }
} finally {
  scratch.remove()
}
process.exitCode = failed === 0 ? 0 : 1

async function firstFailure(at: Scratch): Promise<string | undefined> {
  for (const [name, check] of Object.entries(checks)) {
    const problem = await check(at)
    if (problem !== undefined)
      return `${name}: ${problem
        .split('\n')
        .find((line) => /\berror\b|FAIL/i.test(line) && !/^\s+at |throw new/.test(line))
        ?.trim()}`
  }
  return undefined
}

function failureOf({ code, output }: { readonly code: number | null; readonly output: string }): string | undefined {
  return code === 0 ? undefined : output
}

function missingFrom(at: Scratch): string | undefined {
  const missing = Object.entries(FOLLOWS).flatMap(([file, words]) =>
    words.filter((word) => !at.read(file).includes(word)).map((word) => `error: ${file} does not say ${word}`),
  )
  return missing.length > 0 ? missing.join('\n') : undefined
}

function isListed(): boolean {
  const design = readFileSync(join(ROOT, 'docs/design.md'), 'utf8')
  const [, section = ''] = /^### A new endpoint\n([\s\S]+?)^##/m.exec(design) ?? []
  const items = section.match(/^\d\. (?:.|\n(?! ?\d\.|\n))+/gm) ?? []
  return items.length === edits.length && edits.every(({ place }, index) => items[index]?.includes(`\`${place}\``))
}
