/**
 * Simulates worlds: `npm run simulate -- --seeds 1000`, or one with its log: `--seed 42 --world awards`. With `--prove`, it
 * changes the package in the ways of `mutations.ts`, and fails unless the worlds detect each change.
 */
import { parseArgs } from 'node:util'
import { describeViolation, simulate, Totals, WORLDS, type WorldName } from './index.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    seed: { type: 'string' },
    world: { type: 'string', default: 'all' },
    prove: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
})
const world = values.world as WorldName
const first = Number(values.seed ?? process.env.CAMPAIGN_TEST_SEED ?? 1)
const count = values.seed === undefined ? Number(values.seeds) : 1
if (!WORLDS.includes(world) || !Number.isInteger(first) || !Number.isInteger(count) || count < 1) {
  console.error(
    `usage: npm run simulate -- [--seeds N] [--seed S] [--world ${WORLDS.join('|')}] [--prove [--only NAME]]`,
  )
  process.exit(2)
}

if (values.prove) {
  const { prove } = await import('./prove-mutations.ts')
  process.exitCode = (await prove(values.only)) ? 0 : 1
} else {
  const totals = new Totals()
  for (let seed = first; seed < first + count; seed++) {
    const simulated = await simulate(seed, world)
    totals.add(simulated)
    if (values.seed !== undefined && simulated.violation === undefined) console.log(simulated.log.join('\n'))
    if (simulated.violation === undefined) continue
    console.error(describeViolation(simulated, world))
    process.exitCode = 1
    break
  }
  console.log(`${process.exitCode ? 'a violation after' : 'no violation in'} ${totals}`)
}
