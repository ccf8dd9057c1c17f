import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { pathTo, read } from '../../scripts/repository.ts'

const COMMANDS = ['npm ci && npm run quickstart', 'npm ci && npm test']

test('the README ends with the two commands', () => {
  expect(read('README.md').split('\n## ').at(-1)).toMatch(/^Try the repository\n/)
  expect(read('README.md')).toMatch(`\n\`\`\`sh\n${COMMANDS.join('\n')}\n\`\`\`\n`)
})

test('the README has at most 110 lines and 700 words', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(110)
  expect(read('README.md').trim().split(/\s+/).length).toBeLessThanOrEqual(700)
})

test('the gate runs the commands of the README', () => {
  const lines = read('.ci/run').split('\n')
  for (const command of COMMANDS.flatMap((line) => line.split(' && '))) {
    expect(lines).toContain(command)
  }
})

/** Runs the check at the start of npm's scripts in this Node.js, which reports another version. */
const checkNode = (version: string) =>
  spawnSync(
    process.execPath,
    [
      '--import',
      `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'${version}'}})`,
      pathTo('scripts/check-node.mjs'),
    ],
    { encoding: 'utf8' },
  )

test.each(['22.13.0', '22.23.3', '24.0.0', '26.10.0'])(
  'npm test, quickstart and build start on Node.js %s',
  (version) => {
    expect(checkNode(version)).toMatchObject({ status: 0, stdout: '', stderr: '' })
  },
)

test.each(['20.20.2', '22.12.0'])('npm test, quickstart and build name the required Node.js on %s', (version) => {
  const { status, stderr } = checkNode(version)
  expect(status).toBe(1)
  expect(stderr).toMatch(/^this needs Node\.js 22\.13 or later, .*run "npm ci".*\n$/)
})

test.each(['test', 'quickstart', 'build'])('npm run %s checks the version of Node.js first', (script) => {
  expect(JSON.parse(read('package.json')).scripts[script]).toMatch(/^node scripts\/check-node\.mjs && /)
})
