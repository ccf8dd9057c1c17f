import type { AwardReport } from 'campaign-client/bulk'
import { expect, test } from 'vitest'
import { exitCodeOfRun } from '../../../src/cli/award/exit-code.ts'
import type { Plan } from '../../../src/cli/award/plan.ts'
import type { ExitCode } from '../../../src/cli/exit-codes.ts'
import { CommandFailure } from '../../../src/cli/failure.ts'

const COUNTS = { awarded: 2, alreadyAwarded: 0, unconfirmed: 0, rejected: 0, indeterminate: 0, duplicate: 0 }
const HALTED = [{ pid: 'demo', rows: 1, reason: 'access denied' }]

interface Run {
  readonly counts?: Partial<AwardReport['counts']>
  readonly halted?: AwardReport['halted']
  readonly fromLedger?: number
  readonly complete?: boolean
  readonly stop?: ExitCode
  readonly hasUnknownOutcome?: boolean
  readonly skipped?: number
  readonly usedBefore?: number
}

function exitCode({
  counts,
  halted = [],
  fromLedger = 0,
  complete = true,
  stop,
  hasUnknownOutcome = false,
  skipped = 0,
  usedBefore = 0,
}: Run): number {
  const report = {
    counts: { ...COUNTS, ...counts },
    halted,
    fromLedger,
    complete,
    usedBefore: { awards: usedBefore },
  } as unknown as AwardReport
  const plan = { list: { skipped: { rows: skipped } } } as Plan
  const ended = { report, plan, isLedgerLost: false, hasUnknownOutcome }
  return exitCodeOfRun(stop === undefined ? ended : { ...ended, stop: new CommandFailure(stop, 'stop', 'stopped') })
}

test.each<[number, string, Run]>([
  [0, 'every row is awarded', {}],
  [0, 'every row was awarded in an earlier run', { fromLedger: 2 }],
  [1, 'a row with a mistake was skipped', { skipped: 1 }],
  [1, 'an id was used before', { counts: { alreadyAwarded: 1 }, usedBefore: 1 }],
  [1, 'a row is rejected', { counts: { rejected: 1 } }],
  [130, 'the run is interrupted', { complete: false, stop: 130 }],
  [
    130,
    'the run is interrupted, and a row of the ledger is in doubt',
    { complete: false, stop: 130, hasUnknownOutcome: true },
  ],
  [2, 'the run could not start', { counts: { awarded: 0 }, complete: false, stop: 2 }],
  [1, 'the run stopped for a reason on this machine, and rows were sent', { complete: false, stop: 2 }],
  [3, 'the run stopped by a refusal', { complete: false, stop: 3 }],
  [3, 'a campaign is halted', { halted: HALTED, complete: false }],
  [3, 'a campaign is halted and a row is rejected', { halted: HALTED, counts: { rejected: 1 }, complete: false }],
  [3, 'a campaign is halted and the service is unreachable', { halted: HALTED, complete: false, stop: 4 }],
  [4, 'the service is unreachable', { complete: false, stop: 4 }],
  [4, 'the service is unreachable and a row is rejected', { counts: { rejected: 1 }, complete: false, stop: 4 }],
  [5, 'a row is unconfirmed', { counts: { unconfirmed: 1 } }],
  [5, 'a row is indeterminate, and one is rejected', { counts: { indeterminate: 1, rejected: 1 }, complete: false }],
  [5, 'a row is unconfirmed, and a campaign is halted', { counts: { unconfirmed: 1 }, halted: HALTED }],
  [
    5,
    'the run stopped by a refusal, and a row of the ledger is in doubt',
    { complete: false, stop: 3, hasUnknownOutcome: true },
  ],
  [
    5,
    'the service is unreachable, and a row of the ledger is in doubt',
    { complete: false, stop: 4, hasUnknownOutcome: true },
  ],
])('award ends with %i if %s', (code, _, run) => {
  expect(exitCode(run)).toBe(code)
})
