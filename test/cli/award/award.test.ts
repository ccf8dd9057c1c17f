import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { CampaignClient } from 'campaign-client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { jsonOf } from '../command.ts'
import { listOf, type Setting, setUp, wallet, withParty } from './set-up.ts'

const DEMO = ['--pid', 'demo']
const SEND = [...DEMO, '--yes']

test('awards each row of a list once, even in a second run', async () => {
  const { award, made, service } = await withParty(3)
  const first = await award(['party.csv', ...SEND])
  expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('3 rows awarded  6 XP') })
  expect(first.stderr).toContain('3 rows, 3 wallets, 6 XP')
  expect(first.stderr).not.toContain('next:')
  const requests = service.requests.length
  const second = await award(['party.csv', ...SEND])
  expect(second.code).toBe(0)
  expect(second.stderr).toContain('3 awards made before, 6 XP')
  expect(service.requests).toHaveLength(requests)
  expect(made().sort()).toEqual([`${wallet(1)} 1`, `${wallet(2)} 2`, `${wallet(3)} 3`])
})

test('with --json the report is the last line of standard output', async () => {
  const { file, award } = await setUp()
  file('party.csv', `${listOf(3)}${wallet(1)},1,launch party\n`)
  const ended = await award(['party.csv', ...SEND, '--json'])
  expect(ended.stdout.trimEnd().split('\n')).toHaveLength(1)
  expect(ended.stderr).toContain(
    '4 rows, 3 wallets, 6 XP\n            1 row identical to an earlier row, not counted: 1 XP\n',
  )
  expect(jsonOf(ended)).toMatchObject({
    version: 2,
    rows: 4,
    counts: { awarded: 3, duplicate: 1, rejected: 0 },
    xp: { awarded: 6, duplicate: 1 },
    complete: true,
    exitCode: 0,
    ledger: 'party.csv.ledger',
    plan: {
      rows: 4,
      awards: 3,
      wallets: 3,
      xp: 6,
      repeated: { rows: 1, xp: 1 },
      campaigns: ['demo'],
      toSend: { awards: 3, xp: 6, wallets: 3 },
    },
  })
})

test('--dry-run needs no service, sends nothing and leaves nothing behind', async () => {
  const { folder, award, service } = await withParty(3)
  const ended = await award(['party.csv', ...DEMO, '--dry-run'], {
    env: { CAMPAIGN_BASE_URL: '', CAMPAIGN_ACCESS_TOKEN: '' },
  })
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('3 awards, 3 wallets, 6 XP') })
  expect(service.requests).toEqual([])
  expect(readdirSync(folder)).toEqual(['party.csv'])
})

test('needs --yes without a terminal', async () => {
  const { award, made } = await withParty(3)
  const { code, stdout, stderr } = await award(['party.csv', ...DEMO])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('add --yes')
  expect(made()).toEqual([])
})

test('reads the list from standard input, with --ledger', async () => {
  const { award, made, folder } = await setUp()
  const without = await award(['-', ...SEND], { input: listOf(3) })
  expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('--ledger must name the ledger') })
  for (const awarded of ['3 rows awarded', '0 rows awarded']) {
    const ended = await award(['-', ...SEND, '--ledger', 'my.ledger'], { input: listOf(3) })
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(awarded) })
  }
  expect(made()).toHaveLength(3)
  expect(readdirSync(folder)).toEqual(['my.ledger'])
})

test.each(['none.csv', 'folder', '/dev/zero'])('%s is refused as a list', async (name) => {
  const { award, folder, service } = await setUp()
  mkdirSync(join(folder, 'folder'))
  expect(await award([name, ...SEND, '--ledger', 'my.ledger'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/there is no such file|it is a directory|is larger than 256 MB/),
  })
  expect(service.requests).toEqual([])
})

test('the plan counts a wallet of two campaigns once, and uses the singular for a count of 1', async () => {
  const { file, award } = await setUp()
  file('list.csv', ['address,xp,id,pid', `${wallet(1)},0.1,a,one`, `${wallet(1)},0.2,b,two`].join('\n'))
  const two = await award(['list.csv', '--dry-run'], { env: { CAMPAIGN_BASE_URL: '', CAMPAIGN_ACCESS_TOKEN: '' } })
  expect(two.stdout).toContain('  campaigns one, two\n  list      2 rows, 1 wallet, 0.3 XP\n')
  expect(two.stdout).toContain('to send   2 awards, 1 wallet, 0.3 XP')
  file('one.csv', listOf(1))
  const one = await award(['one.csv', ...SEND])
  expect(one.stderr).toContain('  campaign  demo\n  list      1 row, 1 wallet, 1 XP\n')
  expect(one.stderr).toContain('to send   1 award, 1 wallet, 1 XP')
  expect(one.stdout).toMatch(/^1 row awarded {2}1 XP, \d+ s\n$/)
})

describe('read-only', () => {
  test.each([
    [['--read-only'], {}],
    [[], { CAMPAIGN_READ_ONLY: '1' }],
  ])('%j with %j sends nothing', async (flags, env) => {
    const { award, service, folder } = await withParty(1)
    const ended = await award(['party.csv', ...SEND, ...flags], { env })
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/read-only|READ_ONLY/) })
    expect(service.requests).toEqual([])
    expect(readdirSync(folder)).toEqual(['party.csv'])
  })

  test('allows a dry run', async () => {
    const { award } = await withParty(1)
    const dry = await award(['party.csv', ...DEMO, '--dry-run'], { env: { CAMPAIGN_READ_ONLY: '1' } })
    expect(dry).toMatchObject({ code: 0, stderr: 'dry run: nothing was sent\n' })
  })
})

test('CAMPAIGN_ALLOWED_CAMPAIGNS refuses another campaign, in a flag or in a row', async () => {
  const { file, award, service } = await withParty(1)
  file('list.csv', `address,xp,id,pid\n${wallet(1)},1,a,demo\n${wallet(1)},1,b,live\n`)
  const env = { CAMPAIGN_ALLOWED_CAMPAIGNS: 'demo, test' }
  const byFlag = await award(['party.csv', '--pid', 'live', '--yes'], { env })
  expect(byFlag).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('CAMPAIGN_ALLOWED_CAMPAIGNS does not allow'),
  })
  const byRow = await award(['list.csv', '--yes'], { env })
  expect(byRow.code).toBe(2)
  expect(byRow.stderr).toContain('line 3, column pid: "live" is not in CAMPAIGN_ALLOWED_CAMPAIGNS')
  const empty = await award(['party.csv', ...SEND], { env: { CAMPAIGN_ALLOWED_CAMPAIGNS: '' } })
  expect(empty).toMatchObject({ code: 2, stderr: expect.stringContaining('must be a list of campaign IDs') })
  expect(service.requests).toEqual([])
  expect(await award(['party.csv', ...SEND], { env })).toMatchObject({ code: 0 })
})

test('all mistakes are reported at once, by line and column, before anything is sent', async () => {
  const { file, award, service, folder } = await setUp()
  file(
    'list.csv',
    [
      'address,xp,reason,pid',
      `${wallet(1)},1,party,demo`,
      `0x12,"1,000",,demo`,
      '',
      `${wallet(2)},1e3,party,other`,
      `${wallet(1)},2,party,`,
      `${wallet(3)},1,party,demo,demo`,
    ].join('\n'),
  )
  const { code, stdout, stderr } = await award(['list.csv', ...SEND, '--max-total-xp', '0.5'])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr.trimEnd().split('\n')).toEqual([
    'more XP than --max-total-xp: 1 mistake',
    '  the list has 1 XP in total, but --max-total-xp is 0.5',
    'not a wallet address: 1 mistake',
    '  line 3, column address: "0x12" must be 0x and 40 hex digits; it has 4 characters, not 42',
    'not an amount of XP: 2 mistakes',
    '  line 3, column xp: "1,000" has thousands separators: write digits, for example 1250',
    '  line 5, column xp: "1e3" is in scientific notation: write digits, for example 250',
    'an empty cell: 1 mistake',
    '  line 3, column reason: the cell is empty',
    'another campaign than --pid: 1 mistake',
    '  line 5, column pid: "other" is not "demo", the campaign of --pid',
    'one id for different awards: 1 mistake',
    '  line 6, column xp: line 2 has the same wallet and reason, but another amount',
    'more cells than columns: 1 mistake',
    '  line 7: the row has 5 cells, but the first line has 4: put quotes around a cell that contains the delimiter',
    'error "list.csv" has 8 mistakes: nothing was sent',
  ])
  expect(service.requests).toEqual([])
  expect(existsSync(join(folder, 'list.csv.ledger'))).toBe(false)
  const json = jsonOf(await award(['list.csv', ...SEND, '--json']))
  expect(json).toMatchObject({ error: { code: 'wrong_list', exitCode: 2 }, problemsOmitted: 0 })
  expect(json.problems).toContainEqual({ rule: 'pid', line: 5, column: 'pid', message: expect.any(String) })
})

test('the plan warns of addresses with a wrong checksum', async () => {
  const { file, award } = await setUp()
  const address = '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
  file('list.csv', `address,xp,id\n0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed,1,a\n${address},1,b\n`)
  const ended = await award(['list.csv', ...DEMO, '--dry-run'])
  expect(ended).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 address may contain a typing error (wrong'),
  })
  expect(ended.stdout).toContain(`line 3: ${address}\n`)
  const json = await award(['list.csv', ...DEMO, '--dry-run', '--json'])
  expect(jsonOf(json)).toMatchObject({ plan: { wrongChecksums: { wallets: 1, examples: [{ line: 3, address }] } } })
})

describe('limits', () => {
  test('--max-total-xp adds decimals exactly, and counts a duplicate row once', async () => {
    const { file, award } = await setUp()
    file('tenths.csv', ['address,xp,id', ...[1, 2, 3, 3].map((at) => `${wallet(at)},0.1,${at}`)].join('\n'))
    expect((await award(['tenths.csv', ...SEND, '--max-total-xp', '0.3'])).code).toBe(0)
    expect((await award(['tenths.csv', ...SEND, '--max-total-xp', '0.29'])).code).toBe(2)
  })

  test.each([
    ['--max-xp', '1e3'],
    ['--max-total-xp', '1,000'],
    ['--max-xp', '-1'],
    ['--concurrency', '0'],
    ['--patience', '10'],
    ['--patience', '1.5m'],
    ['--patience', '86401s'],
    ['--pid', ''],
  ])('refuses %s %s', async (flag, value) => {
    const { award } = await withParty(1)
    const { code, stderr } = await award(['party.csv', '--pid', 'demo', '--yes', flag, value])
    expect({ code, sentence: stderr.split('\n')[0] }).toEqual({ code: 2, sentence: expect.stringContaining(flag) })
  })
})

describe('a list that was edited', () => {
  test('awards no wallet twice without --again', async () => {
    const { file, award, made } = await withParty(3)
    await award(['party.csv', ...SEND])
    file('party.csv', listOf(3, 'Launch party'))
    const dry = await award(['party.csv', ...DEMO, '--dry-run', '--json'])
    expect(jsonOf(dry)).toMatchObject({ plan: { toSend: { awards: 3 }, awardedBefore: { wallets: 3 } } })
    const refused = await award(['party.csv', ...SEND])
    expect(await award(['party.csv', ...DEMO, '--dry-run'])).toEqual(refused)
    expect(await award(['party.csv', ...DEMO, '--dry-run', '--again'])).toMatchObject({ code: 0 })
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('add --again') })
    expect(refused.stderr).toContain(`${wallet(1)}  1 XP`)
    expect(made()).toHaveLength(3)
    expect((await award(['party.csv', ...SEND, '--again'])).code).toBe(0)
    expect(made()).toHaveLength(6)
    // The ledger has the first three rows already. Only the new wallet is awarded, so --again is not needed.
    file('party.csv', `${listOf(3, 'Launch party')}${wallet(4)},4,Launch party\n`)
    expect(await award(['party.csv', ...SEND])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 row awarded'),
    })
  })

  test('needs no --again for new wallets, or another campaign', async () => {
    const { file, award } = await setUp({
      campaigns: [
        { id: 'demo', name: 'D' },
        { id: 'two', name: 'Two' },
      ],
    })
    file('party.csv', listOf(3))
    await award(['party.csv', ...SEND])
    file('party.csv', `${listOf(3)}${wallet(9)},5,launch party\n`)
    expect((await award(['party.csv', ...SEND])).code).toBe(0)
    file('two.csv', listOf(3))
    expect((await award(['two.csv', '--pid', 'two', '--yes', '--ledger', 'party.csv.ledger'])).code).toBe(0)
  })

  test('must not change a reason to one that looks the same, but rows that were sent keep theirs', async () => {
    const { file, award, made } = await withParty(2)
    await award(['party.csv', ...SEND])
    file('party.csv', listOf(2, 'launch\u00a0party'))
    const refused = await award(['party.csv', ...SEND, '--again'])
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toMatch(
      /line 2, column reason: "launch\u00a0party" looks like the reason of an award in the ledger, but has .*U\+00A0/,
    )
    const own = ['--ledger', 'own.ledger', '--new']
    await award(['party.csv', ...SEND, ...own])
    expect(await award(['party.csv', ...SEND, ...own])).toMatchObject({ code: 0 })
    expect(made()).toHaveLength(4)
  })

  test('must not change the award of an id in the ledger', async () => {
    const { file, award, made } = await setUp()
    file('list.csv', `address,xp,id\n${wallet(1)},5,a\n${wallet(2)},6,b\n`)
    await award(['list.csv', ...SEND])
    file('list.csv', `address,xp,id\n${wallet(1)},5,a\n${wallet(2)},7,b\n`)
    const { code, stderr } = await award(['list.csv', ...SEND])
    expect(code).toBe(2)
    expect(stderr).toContain(
      `line 3: the ledger has another award with the id of this row: ${wallet(2)}, campaign demo, 6 XP`,
    )
    expect(made()).toHaveLength(2)
  })
})

describe('reports', () => {
  test('are written as JSON, text and CSV, without the token', async () => {
    const { award, folder, service } = await withParty(3)
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: 1 })
    const reports = ['--report', 'r.json', '--report', 'r.txt', '--report', 'r.csv']
    const env = { CAMPAIGN_ACCESS_TOKEN: 'hunter2hunter2' }
    const ended = await award(['party.csv', ...SEND, '--concurrency', '1', ...reports, '--json'], { env })
    expect(ended.code).toBe(1)
    const read = (name: string) => readFileSync(join(folder, name), 'utf8')
    expect(JSON.parse(read('r.json'))).toEqual(jsonOf(ended))
    expect(jsonOf(ended)).toMatchObject({
      counts: { awarded: 2, rejected: 1 },
      problems: [{ line: 2, verdict: 'rejected' }],
    })
    expect(read('r.txt')).toMatch(/2 rows awarded {2}5 XP[\s\S]*1 row rejected by the service[\s\S]*line 2: /)
    expect(read('r.csv').match(/,(awarded|rejected),/g)).toHaveLength(3)
    for (const name of readdirSync(folder)) expect(read(name)).not.toContain('hunter2')
    expect(ended.stdout + ended.stderr).not.toContain('hunter2')
  })

  test('are written for a list with mistakes, with all of its mistakes', async () => {
    const { award, folder } = await withParty(30)
    const reports = ['--report', 'r.json', '--report', 'r.txt']
    const ended = await award(['party.csv', ...SEND, '--max-xp', '5', ...reports, '--json'])
    expect(ended.code).toBe(2)
    const read = (name: string) => readFileSync(join(folder, name), 'utf8')
    const { error, ...others } = jsonOf(ended)
    expect(JSON.parse(read('r.json'))).toMatchObject(others)
    expect(others.problems).toHaveLength(25)
    expect(error).toMatchObject({ code: 'wrong_list', message: '"party.csv" has 25 mistakes: nothing was sent' })
    expect(read('r.txt')).toMatch(
      /^more XP than --max-xp: 25 mistakes\n {2}line 7, column xp: [\s\S]*25 mistakes: nothing was sent\n$/,
    )
  })

  test.each([
    ['adress,xp,reason\n', 'the first line lacks the column address; it names "adress", "xp", "reason"'],
    ['', '"party.csv" is empty'],
    ['address,xp\r', '"party.csv": line 1 contains a carriage return without a line feed'],
  ])('are written for the file %j, which is not a list', async (content, message) => {
    const { file, award, folder } = await setUp()
    file('party.csv', content)
    const reports = ['--report', 'r.json', '--report', 'r.txt', '--report', 'r.csv']
    expect(await award(['party.csv', ...SEND, ...reports])).toMatchObject({ code: 2 })
    const read = (name: string) => readFileSync(join(folder, name), 'utf8')
    const error = { code: 'usage', message, exitCode: 2 }
    expect(JSON.parse(read('r.json'))).toEqual({
      version: 2,
      problems: [{ rule: 'file', message }],
      error,
      exitCode: 2,
    })
    expect(read('r.txt')).toContain(message)
    expect(read('r.csv')).toMatch(/^\ufeffresult_line,.*result_at\r\n,,,,invalid,.+,\r\n$/)
  })

  test('are not affected by a file that a killed run left behind', async () => {
    const { file, award, folder } = await withParty(1)
    for (let pid = 2; pid < 5; pid++) file(`.r.json.${pid}`, 'left behind')
    expect(await award(['party.csv', ...SEND, '--report', 'r.json'])).toMatchObject({ code: 0 })
    expect(existsSync(join(folder, 'r.json'))).toBe(true)
  })

  test('leave no temporary file when they cannot be written', async () => {
    const { start, folder, service, made } = await withParty(3)
    service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 100, times: 3 })
    const running = start(['party.csv', ...SEND, '--concurrency', '1', '--report', 'r.json', '--json'])
    while (made().length === 0) await wait(5)
    // A directory at the path of the report: the temporary file cannot be renamed.
    mkdirSync(join(folder, 'r.json', 'full'), { recursive: true })
    const ended = await running.ended
    expect(ended.code).toBe(1)
    expect(jsonOf(ended)).toMatchObject({ complete: true, exitCode: 1, counts: { awarded: 3 } })
    expect(ended.stderr).toContain('--report "r.json" cannot be written')
    expect(readdirSync(folder).sort()).toEqual(['party.csv', 'party.csv.ledger', 'r.json'])
  })

  test.each(['party.csv', 'party.csv.ledger', './party.csv', 'none/r.json', 'folder.txt', 'r.xml', 'r'])(
    'are refused at %s before anything is sent',
    async (path) => {
      const { award, folder, service } = await withParty(1)
      mkdirSync(join(folder, 'folder.txt'))
      expect(await award(['party.csv', ...SEND, '--report', path])).toMatchObject({ code: 2, stdout: '' })
      expect(service.requests).toEqual([])
    },
  )

  test.each(['same/list.csv', 'same/award.txt', 'hard.csv', 'real.csv', 'token.txt', 'profile.json'])(
    "are refused at %s, another name for one of the run's files",
    async (path) => {
      const { file, award, folder, service } = await setUp()
      file('real.csv', listOf(1))
      symlinkSync('real.csv', join(folder, 'list.csv'))
      linkSync(join(folder, 'real.csv'), join(folder, 'hard.csv'))
      symlinkSync('.', join(folder, 'same'))
      const env = { CAMPAIGN_ACCESS_TOKEN: '', CAMPAIGN_ACCESS_TOKEN_FILE: file('token.txt', 'any') }
      file('profile.json', '{}')
      const args = [...SEND, '--ledger', 'award.txt', '--profile', 'profile.json', '--report', path]
      const { code, stderr } = await award(['list.csv', ...args], { env })
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringContaining('would replace a file that the command uses'),
      })
      expect(service.requests).toEqual([])
    },
  )
})

describe('while the command runs', () => {
  test('a change of the list file has no effect', async () => {
    const { file, start, service, made } = await withParty(40)
    const slowness = service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 50, times: 60 })
    const running = start(['party.csv', ...SEND, '--concurrency', '1'])
    while (made().length === 0) await wait(5)
    file('party.csv', `${listOf(40)}${wallet(99)},1000000,party\n`)
    slowness.cancel()
    expect((await running.ended).code).toBe(0)
    expect(made()).toHaveLength(40)
  })

  test('a deleted token file stops the run with exit code 1, because rows were sent', async () => {
    const { file, award, service, folder, made } = await withParty(20, { tokens: ['old'] })
    const token = file('token', 'old')
    service.subscribe(({ kind }) => {
      if (kind !== 'request_answered' || made().length < 5) return
      rmSync(token, { force: true })
      service.fail({ on: 'rewardWallet', kind: 'status', status: 401, times: 1 })
    })
    const env = { CAMPAIGN_ACCESS_TOKEN: '', CAMPAIGN_ACCESS_TOKEN_FILE: join(folder, 'token') }
    const ended = await award(['party.csv', ...SEND, '--concurrency', '1'], { env })
    expect(ended).toMatchObject({ code: 1, stdout: expect.stringContaining('there is no such file') })
    expect(ended.stderr).toContain('next: correct the file of CAMPAIGN_ACCESS_TOKEN_FILE, then run: ')
    expect(made()).toHaveLength(5)
  })
})

describe('the summary of a run', () => {
  const mixed = async () => {
    const setting = await setUp()
    const { file, award, service } = setting
    file('before.csv', listOf(2))
    await award(['before.csv', ...SEND, '--ledger', 'my.ledger'])
    file('party.csv', listOf(6))
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: 1 })
    service.fail({ on: 'rewardWallet', kind: 'applied_then_reset', times: 1 })
    const reports = ['--ledger', 'my.ledger', '--report', 'r.json']
    const given = () => JSON.parse(readFileSync(join(setting.folder, 'r.json'), 'utf8')).given
    return { ...setting, given, args: ['party.csv', ...SEND, ...reports, '--concurrency', '1'] }
  }

  test('lists new, earlier and failed awards with reasons, and the next step', async () => {
    const { award, args, given } = await mixed()
    const { code, stdout, stderr } = await award(args)
    expect(code).toBe(1)
    expect(given()).toEqual({
      awards: 5,
      xp: 18,
      byThisRun: { awards: 2, xp: 11 },
      byEarlierRuns: { awards: 2, xp: 3 },
      afterLostResponse: { awards: 1, xp: 4 },
    })
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^2 rows awarded {2}11 XP, \d+ s$/),
      '1 award confirmed after a lost response  4 XP',
      '  found in the progress of the wallet (platform ethereum, format assumed)',
      '2 awards made by earlier runs  3 XP',
      '5 awards of the list made in all  18 XP',
      '1 row rejected by the service  3 XP',
      expect.stringMatching(/^ {2}line 4: .*HTTP 400.* {2}v1-[0-9a-f]+$/),
      '',
    ])
    expect(stderr.match(/^next: .*$/gm)).toEqual([
      'next: to see why, run: npx campaign-client ledger my.ledger --verdict rejected --explain; then correct these rows, or send them again unchanged with --retry-rejected',
    ])
    expect(stderr).not.toContain('error')
  })

  test('has the same exit code in a later run with the same ledger', async () => {
    const { award, args, given } = await mixed()
    await award(args)
    const { code, stdout, stderr } = await award(args)
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^0 rows awarded {2}\d+ s\n5 awards made by earlier runs {2}18 XP\n5 awards of the list made in all {2}18 XP\n1 row rejected/,
    )
    expect(given()).toMatchObject({ byThisRun: { awards: 0, xp: 0 }, byEarlierRuns: { awards: 5, xp: 18 } })
    expect(stderr).toContain('5 awards made before, 18 XP')
    expect(stderr).toContain(
      '1 award rejected before, 3 XP\n              --retry-rejected sends rejected awards again\n',
    )
  })

  test('does not count a rejected award as awarded before', async () => {
    const { file, award, service } = await withParty(1)
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: 1 })
    expect(await award(['party.csv', ...SEND])).toMatchObject({ code: 1 })
    file('party.csv', listOf(1, 'corrected'))
    const corrected = await award(['party.csv', ...SEND])
    expect(corrected).toMatchObject({ code: 0, stdout: expect.stringContaining('1 row awarded') })
    expect(corrected.stderr).not.toContain('awarded in the same campaign before')
  })

  test('a refused campaign causes exit code 3 in every run; rows of other campaigns are awarded', async () => {
    const { file, award, made, service } = await setUp()
    const rows = [1, 2, 3].map((at) => `${wallet(at)},${at},${at},${at === 2 ? 'nobody' : 'demo'}`)
    file('list.csv', ['address,xp,id,pid', ...rows].join('\n'))
    for (const now of ['2 rows awarded', '0 rows awarded']) {
      // The plan does not know that the campaign is refused: the query may have another name.
      service.fail({ on: 'getCampaignInfo', kind: 'status', status: 400, times: 2 })
      const { code, stdout, stderr } = await award(['list.csv', '--yes'])
      expect(code).toBe(3)
      expect(stdout).toContain(now)
      expect(stdout).toMatch(
        /^1 row not sent, because the service refused campaign nobody: .*there is no campaign "nobody"$/m,
      )
      expect(stderr).toMatch(/^next: check the campaign ID.*, then run: npx campaign-client award list.csv --yes$/m)
    }
    expect(made()).toHaveLength(2)
  })

  test('counts only the rows that a stopped run has read', async () => {
    const { file, award, service } = await setUp()
    file('last.csv', `address,xp,reason\n${wallet(4)},4,launch party\n`)
    await award(['last.csv', ...SEND, '--ledger', 'my.ledger'])
    file('party.csv', listOf(4))
    let isRefusing = false
    service.subscribe(() => {
      if (isRefusing || service.state.awards.length < 2) return
      isRefusing = true
      service.fail({ on: 'rewardWallet', kind: 'status', status: 401, times: 9 })
    })
    const args = ['party.csv', ...SEND, '--ledger', 'my.ledger', '--concurrency', '1']
    const { code, stdout, stderr } = await award(args)
    expect(code).toBe(3)
    expect(stdout).toMatch(/^1 row awarded {2}1 XP/)
    expect(stdout).toMatch(/^\d rows not sent, because the run stopped: .*401/m)
    expect(stderr).toMatch(/^next: set a valid token .*, then run: npx campaign-client award /m)
  })
})

describe('when the service fails or refuses,', () => {
  test('the reason why a run stopped has the whole message of the service', async () => {
    const { award, service } = await withParty(2)
    const words = 'The token is disabled. To continue, enable it in the panel'
    const body = JSON.stringify({ success: false, error: { code: 401, message: words } })
    service.fail({ on: 'rewardWallet', kind: 'status', status: 401, body, times: 5 })
    const { message } = jsonOf(await award(['party.csv', ...SEND, '--json'])).error as { message: string }
    expect(message).toContain(words)
    expect(message).not.toMatch(/rewardWallets stopped|run it again|docs\//)
  })

  test.each([
    ['0s', /no response for \d+ s, retry(?:ing| in \d+ s), stops in [012] s/],
    ['2h', /no response for \d+ s, retry(?:ing| in \d+ s), stops in (?:2 h 0 min|1 h 59 min)/],
  ])('waits with --patience %s for a service that stops responding, and shows how long', async (patience, words) => {
    const { file, start, service } = await setUp()
    const server = await service.listen({
      intercept: () => {
        // The first award is in flight.
        if (service.state.awards.length === 1) void server.close()
        return false
      },
    })
    file('party.csv', listOf(20))
    const env = { CAMPAIGN_BASE_URL: server.url }
    const running = start(['party.csv', ...SEND, '--concurrency', '1', '--patience', patience], { env })
    await running.until('stderr', words)
    if (patience === '0s') {
      const words = 'row with an unknown outcome: the award may have been made'
      expect(await running.ended).toMatchObject({ code: 5, stdout: expect.stringContaining(words) })
    } else {
      const { port } = server
      const restarted = await service.listen({ port })
      onTestFinished(() => restarted.close())
      await running.ended
    }
    expect(new Set(service.state.awards.map(({ id }) => id)).size).toBe(service.state.awards.length)
  })

  test('ends with 4 at a 429 that asks to wait for longer than the run would', async () => {
    const { award, service } = await withParty(3)
    service.fail({ on: 'rewardWallet', kind: 'status', status: 429, times: 3, headers: { 'retry-after': '3600' } })
    const ended = await award(['party.csv', ...SEND, '--json'])
    expect(jsonOf(ended)).toMatchObject({ counts: { awarded: 0, rejected: 0 }, exitCode: 4 })
    expect(ended.stdout).toContain('the service asks to wait for 60 minutes')
    expect(ended.stderr).toContain('next: wait, then try again')
  })

  /** Writes a profile of `check` for the service. Returns the flags that use it. */
  const profileFlags = ({ file, env }: Setting, award: object): string[] => {
    const target = { address: env.CAMPAIGN_BASE_URL, issuer: null, subjectSha256: null }
    const checkedAt = new Date().toISOString()
    file('profile.json', JSON.stringify({ version: 1, checkedAt, target, pid: 'demo', client: {}, award, answers: [] }))
    return ['--profile', 'profile.json']
  }

  test('with a profile that knows amounts, rejects an id that was used for another amount', async () => {
    const setting = await setUp()
    const { file, award, service, env } = setting
    const known = profileFlags(setting, { walletPlatform: 'ethereum', listsRewards: 'ids_and_amounts' })
    const client = new CampaignClient({ baseUrl: env.CAMPAIGN_BASE_URL as string, accessToken: 'any' })
    await client.rewardWallet({ address: wallet(1), pid: 'demo', id: 'a', xp: 5 })
    for (const [xp, code, words] of [
      [500, 1, '1 row rejected by the service'],
      [5, 1, '1 row not awarded: the id was used before  5 XP\n1 id was used before, and no attempt of this ledger'],
    ] as const) {
      file('party.csv', `address,xp,id\n${wallet(1)},${xp},a\n`)
      const ended = await award(['party.csv', ...SEND, ...known, '--ledger', `${xp}.ledger`])
      expect(ended).toMatchObject({ code, stdout: expect.stringContaining(words) })
    }
    // --retry-rejected does not send it again.
    file('party.csv', `address,xp,id\n${wallet(1)},500,a\n`)
    const again = await award(['party.csv', ...SEND, '--ledger', '500.ledger', '--retry-rejected'])
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('to send   0 awards') })
    expect(again.stderr).toContain('next: compare these rows with the progress of the wallets')
    // An award of the wallet with another id is no evidence.
    file('party.csv', `address,xp,id\n${wallet(1)},5,b\n`)
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: 1 })
    expect(await award(['party.csv', ...SEND, '--new'])).toMatchObject({ code: 1 })
    expect(service.state.awards).toHaveLength(1)
  })

  test('without a profile, an award that is in doubt and shown with another amount is unconfirmed', async () => {
    const setting = await setUp()
    const { file, award, service, env } = setting
    file('party.csv', `address,xp,id\n${wallet(1)},12.5,a\n`)
    // The service applies 13 XP and the response is lost.
    const client = new CampaignClient({ baseUrl: env.CAMPAIGN_BASE_URL as string, accessToken: 'any' })
    await client.rewardWallet({ address: wallet(1), pid: 'demo', id: 'a', xp: 13 })
    service.fail({ on: 'rewardWallet', kind: 'reset', times: 1 })
    const ended = await award(['party.csv', ...SEND])
    expect(ended).toMatchObject({ code: 5, stdout: expect.stringContaining('1 row possibly awarded  12.5 XP\n') })
    expect(ended.stdout).toContain(
      'not found with this amount in the progress of the wallet\n  (platform ethereum, format assumed)\n',
    )
    const flags = profileFlags(setting, { walletPlatform: 'ethereum', listsRewards: 'ids' })
    const known = await award(['party.csv', ...SEND, ...flags])
    expect(known).toMatchObject({ code: 0, stdout: expect.stringContaining('in the progress of the wallet') })
    expect(known.stdout).not.toContain('assumed')
  })

  test('refuses a profile of another service, and sends nothing', async () => {
    const setting = await withParty(1)
    const flags = profileFlags({ ...setting, env: { CAMPAIGN_BASE_URL: 'https://other.example/api/v1' } }, {})
    const { code, stderr } = await setting.award(['party.csv', ...SEND, ...flags])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('is a profile of another base URL') })
    expect(setting.service.requests).toEqual([])
  })

  test('escapes control characters in messages of the service', async () => {
    const { award, service } = await withParty(1)
    const body = JSON.stringify({ success: false, error: { code: 400, message: '\u001b]0;pwned\u0007' } })
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, body, times: 5 } as never)
    const { stdout, stderr } = await award(['party.csv', ...SEND])
    expect(stdout + stderr).not.toContain('\u001b')
  })
})

describe('the ledger', () => {
  test('a path that is not a ledger is refused, in a dry run too', async () => {
    const { file, award, folder, service } = await withParty(1)
    mkdirSync(join(folder, 'folder'))
    file('other', 'not a ledger')
    for (const path of ['folder', 'other', 'none/ledger', 'party.csv']) {
      const ended = await award(['party.csv', ...SEND, '--ledger', path])
      expect({ path, code: ended.code, stdout: ended.stdout }).toEqual({ path, code: 2, stdout: '' })
      expect(await award(['party.csv', ...DEMO, '--dry-run', '--ledger', path])).toEqual(ended)
      expect(ended.stderr).not.toContain('should not have happened')
    }
    expect(service.requests).toEqual([])
  })
})
