import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createManualClock } from 'campaign-client/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { jsonOf } from '../command.ts'
import { listOf, setUp, wallet } from './set-up.ts'

const SEND = ['--pid', 'demo', '--yes']

/** Awards r1.csv, and writes `r1 (1).csv`: the same wallets and XP under other ids. */
async function exportedAgain(rows = 3) {
  const setting = await setUp({
    campaigns: [
      { id: 'demo', name: 'D' },
      { id: 'two', name: 'Two' },
    ],
  })
  setting.file('r1.csv', listOf(3))
  await setting.award(['r1.csv', ...SEND])
  setting.file('r1 (1).csv', listOf(rows, 'corrected'))
  return setting
}

describe('a new ledger, beside another that has the same awards under other ids,', () => {
  test('needs --new, --again or the other ledger, in a dry run too', async () => {
    const { award, made } = await exportedAgain()
    const refused = await award(['r1 (1).csv', ...SEND])
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(
      /3 wallets were awarded the same XP in the last 14 days:\n +3 wallets in r1\.csv\.ledger, under another id {2}\d{4}-\d\d-\d\d\n/,
    )
    expect(refused.stderr).toContain(
      '3 of 3 wallets were awarded the same XP in the last 14 days, in r1.csv.ledger under another id: nothing was sent',
    )
    expect(refused.stderr).toContain('add --new; to continue or correct the other payout, add --ledger r1.csv.ledger')
    expect(await award(['r1 (1).csv', '--pid', 'demo', '--dry-run'])).toEqual(refused)
    expect(await award(['r1 (1).csv', ...SEND, '--ledger', 'named.ledger'])).toMatchObject({ code: 2 })
    expect(await award(['r1 (1).csv', '--pid', 'demo', '--dry-run', '--again'])).toMatchObject({ code: 0 })
    expect(made()).toHaveLength(3)
    const json = jsonOf(await award(['r1 (1).csv', ...SEND, '--new', '--json']))
    expect(json).toMatchObject({
      exitCode: 0,
      plan: { elsewhere: { wallets: 3, ledgers: [{ ledger: 'r1.csv.ledger', wallets: 3 }] } },
    })
    expect(made()).toHaveLength(6)
    // Its own ledger is no longer new.
    expect(await award(['r1 (1).csv', ...SEND])).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('14 days'),
    })
  })

  test('is reported in the singular for one wallet', async () => {
    const { award } = await exportedAgain(1)
    const { stderr } = await award(['r1 (1).csv', ...SEND])
    expect(stderr).toContain('warning   1 wallet was awarded the same XP in the last 14 days:')
    expect(stderr).toContain('error 1 of 1 wallet was awarded the same XP in the last 14 days, in r1.csv.ledger')
  })

  test('asks nothing for fewer than half of the wallets, but names them', async () => {
    const { award } = await exportedAgain(7)
    const ended = await award(['r1 (1).csv', ...SEND])
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('3 wallets were awarded the same XP') })
  })

  test.each([
    ['the same ids', listOf(3), []],
    ['other XP', listOf(3, 'corrected').replace(/,(\d),/g, ',$15,'), []],
    ['other wallets', listOf(6, 'corrected').replace(/^.*,[123],.*\n/gm, ''), []],
    ['another campaign', listOf(3, 'corrected'), ['--pid', 'two', '--yes']],
  ])('asks nothing for %s', async (_, content, flags) => {
    const { award, file } = await exportedAgain()
    file('other.csv', content)
    const ended = await award(['other.csv', ...(flags.length > 0 ? flags : SEND)])
    expect(ended.stderr).not.toContain('14 days')
    expect(ended.code).not.toBe(2)
  })

  test('says that another ledger has the same ids, as of a list under another name or with the reason of last month', async () => {
    const { award, file } = await exportedAgain()
    file('november.csv', listOf(4))
    const { code, stderr } = await award(['november.csv', '--pid', 'demo', '--yes'])
    expect(code).toBe(1)
    expect(stderr).toContain(
      'warning   3 awards of the list are in r1.csv.ledger under the same id, and the service accepts an id once: to ' +
        'continue that run, add --ledger r1.csv.ledger; for a new payout, use other reasons or ids',
    )
  })

  test('asks nothing for awards of last month, of another service, or of rejected rows', async () => {
    const { award, folder } = await exportedAgain()
    const path = join(folder, 'r1.csv.ledger')
    for (const change of [
      `UPDATE awards SET begun_at = begun_at - ${15 * 86_400_000}, settled_at = settled_at - ${15 * 86_400_000}`,
      `UPDATE run SET target = json_set(target, '$.address', 'https://other.example/')`,
      `UPDATE awards SET verdict = 'rejected'`,
    ]) {
      copyFileSync(path, `${path}.copy`)
      const database = new DatabaseSync(path)
      database.exec(change)
      database.close()
      const dry = await award(['r1 (1).csv', '--pid', 'demo', '--dry-run'])
      expect(dry).toMatchObject({ code: 0, stdout: expect.not.stringContaining('14 days') })
      copyFileSync(`${path}.copy`, path)
    }
    expect(await award(['r1 (1).csv', '--pid', 'demo', '--dry-run'])).toMatchObject({ code: 2 })
  })

  test('is compared from copies beside it, if the folder for temporary files cannot be written', async () => {
    const { award, folder } = await exportedAgain()
    vi.stubEnv('TMPDIR', join(folder, 'missing'))
    onTestFinished(() => {
      vi.unstubAllEnvs()
    })
    const before = readdirSync(folder)
    expect(await award(['r1 (1).csv', ...SEND])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('3 of 3 wallets were awarded the same XP'),
    })
    expect(readdirSync(folder)).toEqual(before)
  })

  test('warns of files that it cannot compare, and leaves no copies', async () => {
    const { award, folder } = await exportedAgain()
    writeFileSync(join(folder, 'text.ledger'), 'not a ledger')
    mkdirSync(join(folder, 'folder.ledger'))
    symlinkSync('r1.csv.ledger', join(folder, 'link.ledger'))
    const copies = () => readdirSync(tmpdir()).filter((name) => name.startsWith('campaign-client-ledgers-'))
    const before = copies()
    const { code, stderr } = await award(['r1 (1).csv', ...SEND])
    expect(code).toBe(2)
    expect(stderr).toContain('text.ledger was not compared: it is damaged, or not a ledger of this version')
    expect(stderr).not.toMatch(/folder\.ledger|link\.ledger/)
    expect(copies()).toEqual(before)
  })
})

describe('beside several ledgers with the same awards, a new ledger', () => {
  test('is compared with all, and the question names the one with the most wallets, and the number of the others', async () => {
    const { award, file, folder } = await exportedAgain()
    file('one.csv', listOf(1, 'for one'))
    expect(await award(['one.csv', ...SEND, '--new'])).toMatchObject({ code: 0 })
    // The ledger that changed last.
    utimesSync(join(folder, 'r1.csv.ledger'), 1_000_000_000, 1_000_000_000)
    const refused = await award(['r1 (1).csv', ...SEND, '--json'])
    expect(refused.stderr).toContain(
      'in the last 14 days, in r1.csv.ledger and 1 other ledger under another id: nothing was sent',
    )
    expect(refused.stderr).toContain('to continue or correct the other payout, add --ledger r1.csv.ledger')
    expect(jsonOf(refused)).toMatchObject({
      plan: {
        elsewhere: {
          wallets: 3,
          ledgers: [
            { ledger: 'r1.csv.ledger', wallets: 3 },
            { ledger: 'one.csv.ledger', wallets: 1 },
          ],
        },
      },
    })
  })
})

describe('a new ledger is not compared', () => {
  test.each([
    [
      'is not writable, and no other folder for copies',
      0o555,
      'nor the folder of the ledger can be written: permission denied',
    ],
    ['cannot be listed', 0o333, 'the folder of the ledger cannot be listed: permission denied'],
  ])('in a folder that %s: it needs --new or --ledger, in a dry run too', async (_, mode, reason) => {
    const { award, folder, made } = await exportedAgain()
    vi.stubEnv('TMPDIR', join(folder, 'missing'))
    chmodSync(folder, mode)
    // The superuser may write and list any folder.
    const isRoot = process.geteuid?.() === 0
    if (isRoot) process.seteuid?.('nobody')
    onTestFinished(() => {
      if (isRoot) process.seteuid?.(0)
      chmodSync(folder, 0o755)
      vi.unstubAllEnvs()
    })
    const refused = await award(['r1 (1).csv', ...SEND])
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(new RegExp(`warning +no other ledger was compared: .*${reason}\n`))
    expect(refused.stderr).toContain('may have these awards, and were not compared: nothing was sent')
    expect(refused.stderr).toContain('add --new; to continue or correct another payout, add --ledger FILE')
    expect(await award(['r1 (1).csv', '--pid', 'demo', '--dry-run'])).toEqual(refused)
    for (const flags of [['--new'], ['--ledger', 'r1 (1).csv.ledger']]) {
      expect(await award(['r1 (1).csv', '--pid', 'demo', '--dry-run', ...flags])).toMatchObject({ code: 0 })
    }
    expect(made()).toHaveLength(3)
  })

  test('with more than the 200 ledgers that changed last, and the command says how many are left', async () => {
    const { award, folder } = await exportedAgain()
    utimesSync(join(folder, 'r1.csv.ledger'), 1_000_000_000, 1_000_000_000)
    for (let number = 1; number <= 199; number++) writeFileSync(join(folder, `${number}.ledger`), 'not a ledger')
    expect(await award(['r1 (1).csv', ...SEND, '--dry-run'])).toMatchObject({ code: 2 })
    writeFileSync(join(folder, '200.ledger'), 'not a ledger')
    const ended = await award(['r1 (1).csv', ...SEND, '--dry-run'])
    expect(ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('not compared: 1 older ledger of the folder'),
    })
  })

  test('with a ledger above 256 MB', async () => {
    const { award, folder } = await exportedAgain()
    truncateSync(join(folder, 'r1.csv.ledger'), 256_000_001)
    const ended = await award(['r1 (1).csv', ...SEND, '--dry-run'])
    expect(ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('r1.csv.ledger was not compared: more than 256 MB'),
    })
  })
})

test('a ledger in use is compared from a copy, with a warning, and its run is not disturbed', async () => {
  const clock = createManualClock()
  const { file, award, start, service, made } = await setUp({ clock })
  file('r1.csv', listOf(3))
  const slowness = service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 1_000, times: Infinity })
  const running = start(['r1.csv', ...SEND])
  await expect.poll(() => service.requests.filter(({ operation }) => operation === 'rewardWallet').length).toBe(3)
  file('r2.csv', listOf(3, 'corrected'))
  const { code, stderr } = await award(['r2.csv', ...SEND])
  expect(code).toBe(2)
  expect(stderr).toMatch(/r1\.csv\.ledger (is in use, or its run was killed|was not compared: it is in use)/)
  slowness.cancel()
  await clock.advance(1_000)
  expect(await running.ended).toMatchObject({ code: 0 })
  expect(made().sort()).toEqual([1, 2, 3].map((number) => `${wallet(number)} ${number}`))
})

test('given leaves out the ids that were used before: by another list, or a lost ledger', async () => {
  const { file, award, folder, made } = await setUp()
  file('november.csv', listOf(2))
  await award(['november.csv', ...SEND])
  rmSync(join(folder, 'november.csv.ledger'))
  file('december.csv', listOf(3))
  const args = ['december.csv', ...SEND, '--report', 'r.txt']
  for (const [byThisRun, byEarlierRuns] of [
    [3, 0],
    [0, 3],
  ]) {
    expect(jsonOf(await award([...args, '--json']))).toMatchObject({
      exitCode: 1,
      complete: true,
      counts: { awarded: 1, alreadyAwarded: 2 },
      given: { awards: 1, xp: 3, byThisRun: { xp: byThisRun }, byEarlierRuns: { xp: byEarlierRuns } },
      usedBefore: { awards: 2, xp: 3 },
    })
  }
  const { code, stdout } = await award(args)
  expect(code).toBe(1)
  expect(stdout).not.toContain('lost response')
  expect(stdout).toMatch(
    /\n2 ids were used before, and no attempt of this ledger explains it: this run gave nothing for them\n$/,
  )
  expect(readFileSync(join(folder, 'r.txt'), 'utf8').trimEnd().split('\n').at(-1)).toContain('2 ids were used before')
  expect(made()).toHaveLength(3)
})

test('twenty ids that were used before stop the run, and the next step is another reason', async () => {
  const { file, award } = await setUp()
  file('november.csv', listOf(30))
  await award(['november.csv', ...SEND])
  file('december.csv', listOf(30))
  const ended = await award(['december.csv', ...SEND, '--concurrency', '1'])
  expect(ended).toMatchObject({ code: 3, stdout: expect.stringMatching(/\n20 ids were used before, .*\n$/) })
  expect(ended.stderr).toContain('next: for a new payout, use other reasons or ids; to send the other rows, run: npx ')
})
