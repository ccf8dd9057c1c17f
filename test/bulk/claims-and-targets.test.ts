import { DatabaseSync } from 'node:sqlite'
import { fileLedger, rewardWallets } from 'campaign-client/bulk'
import { describe, test } from 'vitest'
import { COMBINATIONS, type Combination, expectRun, label, other, ROWS, row, type State } from './claims-and-targets.ts'
import { newPath } from './fixtures.ts'

describe('a file', () => {
  const fileWith = async ({ recorded, rebind }: Combination, state: State) => {
    const path = newPath()
    await rewardWallets({ rewardWallet: async () => undefined }, [other], { ledger: fileLedger(path) })
    const database = new DatabaseSync(path)
    database.prepare('UPDATE run SET target = ?').run(recorded)
    const verdict = state === 'final' ? 'awarded' : null
    const insert = 'INSERT INTO awards (id, address, pid, xp, verdict, in_doubt, begun_at) VALUES (?, ?, ?, ?, ?, ?, 1)'
    const values = [row.id, row.address, row.pid, row.xp, verdict, Number(state === 'inDoubt')]
    if (state !== 'new') database.prepare(insert).run(...values)
    database.close()
    return fileLedger(path, { rebind })
  }

  test.each(COMBINATIONS.map((each) => [label(each), each] as const))('%s', async (_, combination) => {
    for (const state of Object.keys(ROWS) as State[]) {
      await expectRun(await fileWith(combination, state), combination, state)
    }
  })
})
