import { truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listOf, setUp } from './set-up.ts'

test('a list is compared with other ledgers of at most 1 GB in all, the newest first', async () => {
  const { award, file, folder } = await setUp()
  file('r1.csv', listOf(3))
  await award(['r1.csv', '--pid', 'demo', '--yes'])
  utimesSync(join(folder, 'r1.csv.ledger'), 1_000_000_000, 1_000_000_000)
  for (let number = 1; number <= 4; number++) {
    writeFileSync(join(folder, `${number}.ledger`), '')
    truncateSync(join(folder, `${number}.ledger`), 250_000_000)
  }
  file('r1 (1).csv', listOf(3, 'corrected'))
  const ended = await award(['r1 (1).csv', '--pid', 'demo', '--yes', '--dry-run'])
  expect(ended).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('r1.csv.ledger was not compared: more than 1000 MB'),
  })
})
