import { execFileSync } from 'node:child_process'
import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createManualClock } from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'
import type { Ended } from '../command.ts'
import { listOf, type Setting, setUp, withParty } from './set-up.ts'

const SEND = ['party.csv', '--pid', 'demo', '--yes']

/** Splits a command line as a shell does. */
const wordsOf = (line: string): string[] =>
  execFileSync('sh', ['-c', `printf '%s\\n' ${line}`], { encoding: 'utf8' })
    .trimEnd()
    .split('\n')

/** Runs the command that the `next:` line names. */
function follow({ stderr }: Ended, { award }: Setting, ...more: string[]): Promise<Ended> {
  const [, line = ''] = /^next: .*run: npx campaign-client award (.+)$/m.exec(stderr) ?? []
  expect(line).not.toBe('')
  return award([...wordsOf(line), ...more])
}

describe('after the cause is mended, the command of the `next:` line awards every row once:', () => {
  const refused = { on: 'rewardWallet', kind: 'status', status: 403, times: 9 } as const
  const failed = { on: 'rewardWallet', kind: 'status', status: 500, times: 999 } as const
  const lost = { on: 'rewardWallet', kind: 'applied_then_reset', times: 1 } as const
  const unreadable = { on: 'getUserProgress', kind: 'status', status: 400, times: 99 } as const

  test.each([
    ['a service that goes away after the plan', 5, [{ on: 'rewardWallet', kind: 'reset', times: Infinity }]],
    ['a refused campaign', 3, [refused]],
    ['outcomes that no attempt could find out', 5, [failed]],
    ['a lost response, while the progress cannot be read', 5, [lost, unreadable]],
  ] as const)('%s', async (_, code, causes) => {
    const setting = await setUp()
    // A name that a shell would split and expand.
    setting.file("Ada's list $1.csv", listOf(3))
    const faults = causes.map((cause) => setting.service.fail(cause))
    const wrong = await setting.award(["Ada's list $1.csv", ...SEND.slice(1), '--patience', '0s'])
    expect(wrong.code).toBe(code)
    for (const fault of faults) fault.cancel()
    expect(await follow(wrong, setting)).toMatchObject({ code: 0 })
    expect(setting.made()).toHaveLength(3)
  })

  test.each([
    ['deleted', (ledger: string) => rmSync(ledger)],
    ['replaced', (ledger: string) => renameSync(`${ledger}.copy`, ledger)],
  ])('a ledger that is %s during the run, restored from a backup', async (_, lose) => {
    const setting = await withParty(20)
    const ledger = join(setting.folder, 'party.csv.ledger')
    setting.file('first.csv', listOf(5))
    expect(await setting.award(['first.csv', ...SEND.slice(1), '--ledger', ledger])).toMatchObject({ code: 0 })
    for (const copy of ['backup', 'copy']) copyFileSync(ledger, `${ledger}.${copy}`)
    let isLost = false
    setting.service.subscribe(() => {
      if (isLost || setting.made().length < 10) return
      isLost = true
      lose(ledger)
    })
    const stopped = await setting.award([...SEND, '--concurrency', '1'])
    expect(stopped.stderr).toMatch(
      /^next: restore the ledger from a backup, without the -wal file of the lost one, then run: npx campaign-client award /m,
    )
    expect(stopped.stdout + stopped.stderr).not.toMatch(/to continue|run it again|please report it/i)
    expect(setting.made().length).toBeLessThan(20)
    rmSync(ledger, { force: true })
    renameSync(`${ledger}.backup`, ledger)
    // The exit code is 1 if the backup lacks awards: their ids were used before.
    expect((await follow(stopped, setting)).code).toBeOneOf([0, 1])
    expect(setting.made()).toHaveLength(20)
    expect(new Set(setting.made()).size).toBe(20)
  })

  test('rejected rows, with the flag that the line names', async () => {
    const setting = await withParty(3)
    setting.service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: 3 })
    const rejected = await setting.award(SEND)
    expect(rejected.stderr).toContain('correct these rows, or send them again unchanged with --retry-rejected')
    expect(await setting.award([...SEND, '--retry-rejected'])).toMatchObject({ code: 0 })
    expect(setting.made()).toHaveLength(3)
  })
})

describe('a ledger with awards of another base URL', () => {
  const bound = async () => {
    const setting = await withParty(2)
    expect(await setting.award(SEND)).toMatchObject({ code: 0 })
    setting.file('party.csv', listOf(3))
    const moved = setting.env.CAMPAIGN_BASE_URL?.replace('127.0.0.1', 'localhost') as string
    return {
      ...setting,
      env: { ...setting.env, CAMPAIGN_BASE_URL: moved },
      from: setting.env.CAMPAIGN_BASE_URL as string,
    }
  }

  test.each(['--yes', '--dry-run'])('is refused with %s, and the error names --rebind', async (flag) => {
    const { award, env, from, service } = await bound()
    const requests = service.requests.length
    const { code, stdout, stderr } = await award(['party.csv', '--pid', 'demo', flag], { env })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('it belongs to another target: base URL')
    expect(stderr).toContain(`If this is the same service and organization, add --rebind ${from}/\n`)
    expect(service.requests).toHaveLength(requests)
  })

  test('is continued with --rebind, and by later runs without it', async () => {
    const { award, env, made } = await bound()
    const { stderr } = await award(SEND, { env })
    const [, flags = ''] = /add (--rebind .+)$/m.exec(stderr) ?? []
    const dry = await award(['party.csv', '--pid', 'demo', '--dry-run', ...wordsOf(flags)], { env })
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining('to send   1 award') })
    expect(await award([...SEND, ...wordsOf(flags)], { env })).toMatchObject({ code: 0 })
    expect(await award([...SEND, ...wordsOf(flags)], { env })).toMatchObject({ code: 0 })
    expect(await award(SEND, { env })).toMatchObject({ code: 0 })
    expect(made()).toHaveLength(3)
  })

  test('is refused if --rebind names another base URL', async () => {
    const { award, env } = await bound()
    const { code, stderr } = await award([...SEND, '--rebind', 'https://other.example'], { env })
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--rebind must be "http://127.0.0.1') })
  })
})

describe('a dry run refuses what the run would refuse:', () => {
  test('a ledger of another run, even without an environment', async () => {
    const { award } = await withParty(1)
    await award([...SEND, '--run', 'test'])
    const env = { CAMPAIGN_BASE_URL: '', CAMPAIGN_ACCESS_TOKEN: '' }
    const { code, stderr } = await award(['party.csv', '--pid', 'demo', '--dry-run'], { env })
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('it belongs to the run "test"') })
  })

  test('a profile that is missing', async () => {
    const { award } = await withParty(1)
    const { code, stderr } = await award(['party.csv', '--pid', 'demo', '--dry-run', '--profile', 'none.json'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('"none.json" cannot be read') })
  })

  test('a ledger that a run uses', async () => {
    const clock = createManualClock()
    const { award, start, service } = await withParty(20, { clock })
    const slowness = service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 2_000, times: Infinity })
    const running = start(SEND)
    await expect.poll(() => service.requests.some(({ operation }) => operation === 'rewardWallet')).toBe(true)
    const { code, stderr } = await award(['party.csv', '--pid', 'demo', '--dry-run'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('party.csv.ledger') })
    slowness.cancel()
    await clock.advance(2_000)
    expect(await running.ended).toMatchObject({ code: 0 })
  })
})
