import { expect, test } from 'vitest'
import { read } from '../../scripts/repository.ts'
import { BUNDLES } from '../package/checks/sizes.ts'

const { version, engines, dependencies, license } = JSON.parse(read('package.json'))

test.each(['README.md', 'docs/index.md'])(
  '%s has the facts of package.json and the largest size of a client',
  (page) => {
    const client = BUNDLES.find(({ name }) => name === 'the whole client')
    const facts = read(page)
      .match(/^Version .+$/m)?.[0]
      .split(' · ')
    expect(facts).toEqual([
      `Version ${version}`,
      `Node.js ${engines.node.slice('>='.length)} or later, Bun, Deno, Workers`,
      `one dependency, ${Object.keys(dependencies).join(' and ')}`,
      `client at most ${client?.limit} kB with zod, gzipped`,
      `${license} license`,
    ])
  },
)
