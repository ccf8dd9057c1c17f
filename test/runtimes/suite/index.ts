import { type Behaviour, type Environment, type Outcome, tryBehaviour } from './behaviour.ts'
import { calls } from './calls.ts'
import { entries } from './entries.ts'
import { events } from './events.ts'
import { loopback } from './loopback.ts'
import { receivers } from './receiver.ts'
import { signatures } from './signatures.ts'
import { stores } from './stores.ts'
import { tokens } from './tokens.ts'
import { waiting } from './waiting.ts'

const behaviours: readonly Behaviour[] = [
  ...entries,
  ...calls,
  ...waiting,
  ...tokens,
  ...loopback,
  ...signatures,
  ...events,
  ...receivers,
  ...stores,
]

/** Runs all behaviours in order, and then more of them. */
export async function run(environment: Environment, more: readonly Behaviour[] = []): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const behaviour of [...behaviours, ...more]) outcomes.push(await tryBehaviour(behaviour, environment))
  return outcomes
}
