import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { pathTo, read } from '../../scripts/repository.ts'

const COMMANDS = ['npm ci && npm run quickstart', 'npm ci && npm test']

test('the README lists the two commands below the first call', () => {
  const headings = [...read('README.md').matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
  expect(headings[headings.indexOf('First call') + 1]).toBe('Two commands')
  const section = read('README.md').split('## Two commands\n')[1]?.split('\n## ')[0] ?? ''
  expect([...section.matchAll(/```sh\n(.*?)\n```/gs)].map(([, block]) => block)).toEqual([COMMANDS.join('\n')])
})

test('the README has at most 165 lines', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(165)
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
