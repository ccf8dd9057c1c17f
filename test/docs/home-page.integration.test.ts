import { describe, expect, test } from 'vitest'
import { read } from '../../scripts/repository.ts'
import { DELIVERY_FAULTS, REQUEST_FAULTS } from '../../src/testing/faults/fault-options.ts'
import { BUNDLES } from '../package/checks/sizes.ts'

/** Returns the medians of a contestant in a table of docs/benchmarks.md, by the first words of the column. */
function benchmark(title: string, contestant: string): string[] {
  const section = read('docs/benchmarks.md').split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? ''
  const row = section.split('\n').find((line) => line.startsWith(`| ${contestant} |`)) ?? ''
  return [...row.matchAll(/\| (\d[\d.]*) \(/g)].map(([, median = '']) => median)
}

describe.each(['README.md', 'docs/index.md'])('%s', (page) => {
  const line = (title: string): string => read(page).match(new RegExp(`^- \\*\\*${title}.+$`, 'm'))?.[0] ?? ''

  test('counts the kinds of faults of the local service', () => {
    const [requests, deliveries] = [REQUEST_FAULTS, DELIVERY_FAULTS].map((kinds) => Object.keys(kinds).length)
    expect(line('Safe retries')).toContain(
      `${requests} kinds of failing responses and ${deliveries} kinds of failing webhook`,
    )
  })

  test('cites the CPU times of docs/benchmarks.md', () => {
    const [ours, , oursAt64] = benchmark('One call', 'campaign-client')
    const [node, , nodeAt64] = benchmark('One call', 'campaign-client/node')
    const [stripe, , stripeAt64] = benchmark('One call', 'stripe')
    const words = line('CPU time').replaceAll(/\[|\]\([^)]*\)/g, '')
    expect(words).toContain(
      ` ${ours}, with \`nodeTransport()\` ${node}, \`stripe-node\` ${stripe}. With 64 calls at once: `,
    )
    expect(words).toContain(` ${oursAt64}, with \`nodeTransport()\` ${nodeAt64}, \`stripe-node\` ${stripeAt64}`)
  })

  test('names the largest size that the check of the package allows', () => {
    const client = BUNDLES.find(({ name }) => name === 'the whole client')
    expect(line('Weight')).toContain(`at most ${client?.limit} kB`)
  })

  test('names every dependency', () => {
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> }
    expect(line('One dependency')).toContain(`:** ${Object.keys(dependencies).join(' and ')}.`)
  })
})
