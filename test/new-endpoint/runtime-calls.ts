/** Tries what the suite of the runtimes does with the new endpoint, on the source. */
import { tryBehaviour } from '../runtimes/suite/behaviour.ts'
import { calls } from '../runtimes/suite/calls.ts'

const own = calls.filter(({ name }) => name.startsWith('getUserBadges:'))
const outcomes = await Promise.all(own.map((behaviour) => tryBehaviour(behaviour, { serviceUrl: '', closedUrl: '' })))
const failures = outcomes.filter(({ ok }) => !ok)
for (const { name, error } of failures) console.error(`error: ${name}: ${error}`)
if (own.length === 0) console.error('error: the suite of the runtimes does not call it')
process.exitCode = own.length > 0 && failures.length === 0 ? 0 : 1
