import { mkdirSync, readdirSync, truncateSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { FULL_SIZE } from '../../support/full-size.ts'
import { jsonOf } from '../command.ts'
import { listOf, setUp } from './set-up.ts'

const LONG_LIST = FULL_SIZE ? 1_000_000 : 100_000
const MAX_MB = FULL_SIZE ? 1_500 : 300
const AWARD_ARGS = ['party.csv', '--pid', 'demo', '--yes']

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s during the comparison with other ledgers removes their copies',
  async (signal) => {
    const { file, folder, startProcess, made } = await setUp()
    const copies = join(folder, 'copies')
    mkdirSync(copies)
    file('party.csv', listOf(3))
    // Copies of sparse files take much longer than the test needs for its signal.
    for (let number = 1; number <= 4; number++) {
      file(`${number}.ledger`, '')
      truncateSync(join(folder, `${number}.ledger`), 250_000_000)
    }
    const running = await startProcess(AWARD_ARGS, { env: { TMPDIR: copies } })
    await expect
      .poll(() => readdirSync(copies), { interval: 1 })
      .toEqual([expect.stringMatching(/^campaign-client-ledgers-/)])
    running.kill(signal)
    expect(await running.ended).toMatchObject({ signal })
    expect(readdirSync(copies)).toEqual([])
    expect(made()).toEqual([])
  },
)

test(`a list of ${LONG_LIST} rows needs at most ${MAX_MB} MB of memory`, { timeout: 300_000 }, async () => {
  const { file, startProcess } = await setUp()
  const maxMemory = async (rows: number): Promise<number> => {
    file('party.csv', listOf(rows))
    const running = await startProcess(['party.csv', '--pid', 'demo', '--dry-run', '--json'])
    let max = 0
    let hasEnded = false
    void running.ended.then(() => {
      hasEnded = true
    })
    while (!hasEnded) {
      const status = await readFile(`/proc/${running.child.pid}/status`, 'utf8').catch(() => '')
      max = Math.max(max, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024)
      await wait(20)
    }
    expect(jsonOf(await running.ended)).toMatchObject({ plan: { rows } })
    return max
  }
  const baseline = await maxMemory(10_000)
  expect((await maxMemory(LONG_LIST)) - baseline).toBeLessThan(MAX_MB * 1_000_000)
})
