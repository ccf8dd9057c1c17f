/**
 * Simulates worlds with a changed package until one breaks an invariant. Prints the crash or the seed, and the invariant; or
 * nothing. `prove-mutations.ts` bundles this file with the change.
 */
import { AWARD_FAULTS, AWARD_WAYS, crashAward, crashMessage } from './crashes.ts'
import { simulate, type WorldName } from './index.ts'
import type { World } from './world.ts'

const [name, seeds] = process.argv.slice(2) as [WorldName, string]

function report(found: string, { violation }: World): void {
  if (violation === undefined) return
  console.log(`${found}: ${violation.split('\n')[0]}`)
  process.exit(0)
}

// A changed package may loop without an event.
setTimeout(() => {
  console.log('timeout: the worlds did not end')
  process.exit(0)
}, 600_000).unref()

for (let point = 1; point <= 40; point++) {
  for (const way of AWARD_WAYS) {
    for (const fault of AWARD_FAULTS) report(`crash ${point}`, (await crashAward(way, point, fault, 1)).world)
  }
  report(`crash ${point}`, (await crashMessage(point, 2)).world)
}
for (let seed = 1; seed <= Number(seeds); seed++) report(`seed ${seed}`, await simulate(seed, name))
