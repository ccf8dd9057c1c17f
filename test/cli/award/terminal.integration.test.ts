import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CampaignService } from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'
import { skipsWithout } from '../../support/skips-without.ts'
import { hasTerminals } from '../command.ts'
import { listOf, setUp, wallet, withParty } from './set-up.ts'

const PARTY = ['party.csv', '--pid', 'demo']
const awardsSent = ({ requests }: CampaignService): number =>
  requests.filter(({ operation }) => operation === 'rewardWallet').length
const BAR = /[█░]{3,}/

describe.skipIf(skipsWithout('terminals', hasTerminals ? undefined : 'python3 with pty is not installed'))(
  'at a terminal',
  () => {
    test.each([
      ['y', 0, 3],
      ['YES', 0, 3],
      ['n', 2, 0],
      ['', 2, 0],
      ['yeah', 2, 0],
      ['\u0004', 2, 0],
    ])('after the answer %j, the exit code is %i and %i awards are made', async (answer, code, awards) => {
      const { atTerminal, made } = await withParty(3)
      const running = await atTerminal(PARTY)
      await running.until('stdout', /Send 3 awards, 6 XP\? \[y\/N\] /)
      expect(made()).toEqual([])
      running.child.stdin?.write(answer === '\u0004' ? answer : `${answer}\r`)
      expect(await running.ended).toMatchObject({ code })
      expect(made()).toHaveLength(awards)
    })

    test('needs --yes if standard input is not the terminal', async () => {
      const { atTerminal, made } = await withParty(3)
      const within = ['sh', '-c', 'exec "$0" "$@" < party.csv']
      const { ended } = await atTerminal(['-', '--pid', 'demo', '--ledger', 'my.ledger'], { within })
      expect(await ended).toMatchObject({ code: 2, stdout: expect.stringContaining('then add --yes') })
      expect(made()).toEqual([])
    })

    test('a second award of a wallet needs the answer "again"', async () => {
      const { file, atTerminal, award, made } = await withParty(3)
      await award([...PARTY, '--yes'])
      file('party.csv', listOf(3, 'Launch party'))
      for (const [answer, code, awards] of [
        ['y', 2, 3],
        ['again', 0, 6],
      ] as const) {
        const running = await atTerminal(PARTY)
        await running.until('stdout', /3 wallets would be awarded a second time\. Type "again"/)
        running.child.stdin?.write(`${answer}\r`)
        expect(await running.ended).toMatchObject({ code })
        expect(made()).toHaveLength(awards)
      }
    })

    test('if another run ends before the answer, nothing is sent until the new plan is confirmed', async () => {
      const { file, atTerminal, award, made } = await withParty(3)
      const running = await atTerminal(PARTY, { env: { TERM: 'dumb' } })
      await running.until('stdout', /Send 3 awards, 6 XP\? \[y\/N\] /)
      file('party.csv', listOf(2, 'Launch party'))
      await award([...PARTY, '--yes'])
      running.child.stdin?.write('y\r')
      await running.until(
        'stdout',
        /another run has changed the ledger[\s\S]*2 wallets would be awarded a second time\. Type "again"/,
      )
      expect(made()).toHaveLength(2)
      running.child.stdin?.write('y\r')
      expect(await running.ended).toMatchObject({
        code: 2,
        stdout: expect.stringContaining('declined: nothing was sent'),
      })
      expect(made()).toHaveLength(2)
    })

    test('a new plan with nothing to send needs no answer', async () => {
      const { atTerminal, award, made } = await withParty(3)
      const running = await atTerminal(PARTY, { env: { TERM: 'dumb' } })
      await running.until('stdout', /Send 3 awards, 6 XP\? \[y\/N\] /)
      await award([...PARTY, '--yes'])
      running.child.stdin?.write('y\r')
      const { code, stdout } = await running.ended
      expect(code).toBe(0)
      expect(stdout).toMatch(/^0 rows awarded {2}\d+ s\r\n3 awards made by earlier runs {2}6 XP\r$/m)
      expect(made()).toHaveLength(3)
    })

    test.each([
      ['n', 2, 0],
      ['y', 1, 2],
    ])('--skip-invalid asks with both counts: after %j, the exit code is %i', async (answer, code, awards) => {
      const { file, atTerminal, made } = await setUp()
      file('party.csv', `${listOf(2)}${wallet(3)},x,launch party\n`)
      const running = await atTerminal([...PARTY, '--skip-invalid'])
      await running.until('stdout', /Send 2 awards, 3 XP, and skip 1 row with mistakes\? \[y\/N\] /)
      running.child.stdin?.write(`${answer}\r`)
      expect(await running.ended).toMatchObject({ code })
      expect(made()).toHaveLength(awards)
    })

    test('a campaign that the service refuses is named in the question', async () => {
      const { atTerminal } = await withParty(2)
      const running = await atTerminal(['party.csv', '--pid', 'nobody'])
      await running.until(
        'stdout',
        /the service refuses campaign "nobody" \(403\)\.\r\nSend 2 awards, 3 XP\? \[y\/N\] /,
      )
      running.child.stdin?.write('n\r')
      expect(await running.ended).toMatchObject({ code: 2 })
    })

    test('a list that another ledger has awarded needs the answer "new"', async () => {
      const { file, atTerminal, award, made } = await setUp()
      file('r1.csv', listOf(2))
      await award(['r1.csv', '--pid', 'demo', '--yes'])
      file('r1 (1).csv', listOf(3, 'corrected'))
      for (const [answer, code, awards] of [
        ['y', 2, 2],
        ['new', 0, 5],
      ] as const) {
        const running = await atTerminal(['r1 (1).csv', '--pid', 'demo'])
        await running.until('stdout', /2 of 3 wallets were awarded the same XP in the last 14 days\.\r\nType "new"/)
        running.child.stdin?.write(`${answer}\r`)
        const ended = await running.ended
        expect(ended.code).toBe(code)
        expect(ended.stdout.includes('to continue or correct the other payout, add --ledger r1.csv.ledger')).toBe(
          code === 2,
        )
        expect(made()).toHaveLength(awards)
      }
    })

    test('Ctrl-C at the question ends the command, and nothing is sent', async () => {
      const { atTerminal, made } = await withParty(3)
      const running = await atTerminal(PARTY)
      await running.until('stdout', /\[y\/N\] /)
      running.child.stdin?.write('\u0003')
      expect(await running.ended).toMatchObject({ code: 130 })
      expect(made()).toEqual([])
    })

    test('shows a progress bar, and clears it at the end', async () => {
      const { atTerminal, service } = await withParty(40)
      service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 150, times: 40 })
      const running = await atTerminal([...PARTY, '--yes'], { env: { TERM: 'xterm' } })
      const { code, stdout } = await running.ended
      expect(code).toBe(0)
      expect(stdout).toMatch(BAR)
      expect(stdout).toMatch(/\d+\/40/)
      // Otherwise, a killed process would leave a hidden cursor or a disabled line wrap.
      for (const control of ['\u001b[?25l', '\u001b[?7l']) expect(stdout).not.toContain(control)
      expect(stdout.split('\r\u001b[K').at(-1)).toMatch(/^\S*40 rows\S* awarded/)
    })

    test.each([[{ TERM: 'dumb' }], [{ TERM: 'xterm', NO_COLOR: '1' }]])(
      'with %o it prints plain lines',
      async (env) => {
        const { atTerminal, service } = await withParty(30)
        service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 400, times: 30 })
        const { code, stdout } = await (await atTerminal([...PARTY, '--yes'], { env })).ended
        expect(code).toBe(0)
        expect(stdout).not.toContain('\u001b')
        expect(stdout).not.toMatch(BAR)
        expect(stdout).toMatch(/^\d+\/30 {2}/m)
      },
    )

    test('Ctrl-C waits for the awards in flight, prints how to continue, and ends by the signal', async () => {
      const { atTerminal, award, service, made } = await withParty(60)
      service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 300, times: 60 })
      const running = await atTerminal([...PARTY, '--yes'], { env: { TERM: 'xterm' } })
      await running.until('stdout', /[1-9]\d*\/60/)
      running.child.stdin?.write('\u0003')
      const { code, stdout } = await running.ended
      expect(code).toBe(130)
      expect(stdout).toContain('waiting for the awards in flight; press Ctrl-C again to stop at once')
      expect(stdout).toContain('to continue, run: npx campaign-client award party.csv --pid demo --yes')
      expect(stdout).toMatch(/\d+ rows\S* not sent, because the run stopped: interrupted by SIGINT/)
      expect(stdout).not.toContain('unknown outcome')
      for (const fault of service.pendingFaults()) fault.cancel()
      const begun = made().length
      expect(begun).toBeGreaterThan(0)
      expect(begun).toBeLessThan(60)
      const rest = await award([...PARTY, '--yes'])
      expect(rest).toMatchObject({ code: 0, stderr: expect.stringContaining(`${begun} awards made before`) })
      expect(made()).toHaveLength(60)
    })

    test('a second Ctrl-C aborts the awards in flight, and writes the reports', async () => {
      const { folder, atTerminal, service, award, made } = await withParty(10)
      const faults = service.fail({ on: 'rewardWallet', kind: 'hang', times: 10 })
      const reports = ['--report', 'r.json', '--report', 'r.csv']
      const running = await atTerminal([...PARTY, '--yes', '--concurrency', '2', ...reports], {
        env: { TERM: 'xterm' },
      })
      await running.until('stdout', BAR)
      await expect.poll(() => awardsSent(service)).toBeGreaterThan(1)
      running.child.stdin?.write('\u0003')
      await running.until('stdout', /waiting for the awards/)
      running.child.stdin?.write('\u0003')
      expect(await running.ended).toMatchObject({ code: 130, stdout: expect.stringContaining('to continue, run:') })
      const report = JSON.parse(readFileSync(join(folder, 'r.json'), 'utf8'))
      expect(report).toMatchObject({ exitCode: 130, counts: { indeterminate: 2 }, given: { awards: 0 } })
      expect(readFileSync(join(folder, 'r.csv'), 'utf8').match(/,(indeterminate|not_sent),/g)).toHaveLength(10)
      faults.cancel()
      expect(await award([...PARTY, '--yes'])).toMatchObject({ code: 0 })
      expect(made()).toHaveLength(10)
    })
  },
)

test('prints lines without colours if there is no terminal', async () => {
  const { award, service } = await withParty(30)
  service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 400, times: 30 })
  const { code, stdout, stderr } = await award([...PARTY, '--yes'])
  expect(code).toBe(0)
  expect(stdout + stderr).not.toContain('\u001b')
  expect(stderr).toMatch(/^\d+\/30 {2}/m)
})

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s waits for the awards in flight, and with --json prints the report',
  async (signal) => {
    const { startProcess, service } = await withParty(60)
    service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 300, times: 60 })
    const running = await startProcess([...PARTY, '--yes', '--json'])
    while (awardsSent(service) === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    running.child.kill(signal)
    const ended = await running.ended
    expect(ended.signal).toBe(signal)
    const report = JSON.parse(ended.stdout.trimEnd().split('\n').at(-1) ?? '')
    expect(report).toMatchObject({
      complete: false,
      error: { code: 'interrupted', exitCode: 130 },
      exitCode: 130,
      counts: { indeterminate: 0 },
    })
    expect(report.counts.awarded).toBe(service.state.awards.length)
  },
)
