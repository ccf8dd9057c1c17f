import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { jsonOf } from '../command.ts'
import { listOf, type Setting, setUp, wallet } from './set-up.ts'

const SEND = ['--pid', 'demo', '--yes']
const OWN = ['--ledger', 'my.ledger']
const REPORT = ['--report', 'r.csv']

/** Reads a CSV report, as a program other than the command does. */
function readReport({ folder }: Setting, delimiter = ',', name = 'r.csv'): Record<string, string>[] {
  return parse(readFileSync(join(folder, name)), { bom: true, columns: true, delimiter })
}

const SEMICOLONS = [
  'Team;Address;XP;Id;=Note;Change',
  `Röt;${wallet(1)};0.1;-promo-2;=1+1;-12,5`,
  `;${wallet(2)};0.2;+5;"a;b ";+49 170`,
  `x;${wallet(3)};0.3;@ada; ;-1`,
  `x;${wallet(3)};0.3;@ada;twice;`,
  '',
].join('\n')

test('a CSV report has the columns of the list as they were, its delimiter, and the results', async () => {
  const setting = await setUp()
  const { file, folder, award, service } = setting
  file('list.csv', SEMICOLONS)
  service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: 1 })
  expect(await award(['list.csv', ...SEND, ...OWN, ...REPORT, '--concurrency', '1'])).toMatchObject({ code: 1 })
  const text = readFileSync(join(folder, 'r.csv'), 'utf8')
  expect(text.split('\r\n')[0]).toBe(
    "\ufeffTeam;Address;XP;Id;'=Note;Change;result_line;result_pid;result_id;result_xp;result_verdict;result_reason;result_at",
  )
  const rows = readReport(setting, ';')
  const own = rows.map((row) => Object.values(row).slice(0, 6))
  expect(own).toEqual([
    ['Röt', wallet(1), '0.1', "'-promo-2", "'=1+1", '-12,5'],
    ['', wallet(2), '0.2', "'+5", 'a;b ', "'+49 170"],
    ['x', wallet(3), '0.3', "'@ada", '', '-1'],
    ['x', wallet(3), '0.3', "'@ada", 'twice', ''],
  ])
  expect(rows.map(({ result_reason, result_at, ...row }) => Object.values(row).slice(6))).toEqual([
    ['2', 'demo', "'-promo-2", '0.1', 'rejected'],
    ['3', 'demo', "'+5", '0.2', 'awarded'],
    ['4', 'demo', "'@ada", '0.3', 'awarded'],
    ['5', 'demo', "'@ada", '0.3', 'duplicate'],
  ])
  expect(rows.map((row) => row.result_reason)).toEqual([expect.stringContaining('400'), '', '', 'identical to line 4'])
  for (const { result_at } of rows) expect(result_at).toMatch(/^\d{4}-\d\d-\d\dT/)
})

test('a report is a list, with the ledger of its run: nothing is sent again, and its own columns stay', async () => {
  const setting = await setUp()
  const { file, folder, award, made } = setting
  file('list.csv', SEMICOLONS)
  await award(['list.csv', ...SEND, ...OWN, ...REPORT])
  const first = readFileSync(join(folder, 'r.csv'), 'utf8')
  const requests = setting.service.requests.length
  expect(await award(['r.csv', ...SEND, ...OWN, '--report', 'r2.csv'])).toMatchObject({ code: 0 })
  expect(readFileSync(join(folder, 'r2.csv'), 'utf8')).toBe(first)
  expect(setting.service.requests).toHaveLength(requests)
  expect(made()).toHaveLength(3)
})

test('a report keeps mapped columns', async () => {
  const setting = await setUp()
  const { file, award, made } = setting
  file('list.csv', `=Wallet;Points;reason\n${wallet(1)};5;party\n`)
  const columns = ['--columns', 'address==Wallet,xp=Points']
  expect(await award(['list.csv', ...SEND, ...OWN, ...columns, ...REPORT])).toMatchObject({ code: 0 })
  expect(await award(['r.csv', ...SEND, ...OWN, ...columns])).toMatchObject({ code: 0 })
  expect(made()).toHaveLength(1)
})

describe('a report is refused', () => {
  const reported = async (list: string, change: (text: string) => string) => {
    const setting = await setUp()
    setting.file('list.csv', list)
    await setting.award(['list.csv', ...SEND, ...OWN, ...REPORT])
    setting.file('r.csv', change(readFileSync(join(setting.folder, 'r.csv'), 'utf8')))
    const requests = setting.service.requests.length
    return { ...setting, sent: () => setting.service.requests.length - requests }
  }
  const IDS = `address,xp,id\n${wallet(1)},1,00123\n${wallet(2)},2,1/2\n`

  test('without --ledger', async () => {
    const { award, sent } = await reported(IDS, (text) => text)
    const ended = await award(['r.csv', ...SEND])
    expect(ended).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('--ledger must name the ledger of its run'),
    })
    expect(sent()).toBe(0)
  })

  test('with the ledger of another run', async () => {
    const { award, sent } = await reported(IDS, (text) => text)
    const ended = await award(['r.csv', ...SEND, '--ledger', 'other.ledger'])
    expect(ended.code).toBe(2)
    expect(
      ended.stderr.match(/^ {2}line \d: the ledger has no award "00123|^ {2}line \d: the ledger has no award/gm),
    ).toHaveLength(2)
    expect(sent()).toBe(0)
  })

  test('with another campaign', async () => {
    const { award, sent } = await reported(IDS, (text) => text)
    const ended = await award(['r.csv', '--pid', 'two', '--yes', ...OWN])
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('in campaign "two"') })
    expect(sent()).toBe(0)
  })

  test('if a spreadsheet changed an id', async () => {
    const { award, sent, made } = await reported(IDS, (text) =>
      text.replaceAll('00123', '123').replaceAll('1/2', '02. Jan'),
    )
    const ended = await award(['r.csv', ...SEND, ...OWN, '--again'])
    expect(ended.code).toBe(2)
    expect(ended.stderr).toContain('line 2: the ledger has no award "123" (result_id) in campaign "demo"')
    expect(ended.stderr).toContain('line 3: the ledger has no award "02. Jan" (result_id)')
    expect(sent()).toBe(0)
    expect(made()).toHaveLength(2)
  })

  test('if a reason of an award changed, and so its id', async () => {
    const list = `address,xp,reason\n${wallet(1)},1,1/2\n`
    const { award, sent } = await reported(list, (text) => text.replace(',1/2,', ',2-Jan,'))
    const ended = await award(['r.csv', ...SEND, ...OWN, '--again'])
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('line 2: the id of the row is now "v1-') })
    expect(sent()).toBe(0)
  })

  test('if a row was added without a verdict, or its id or its column was removed', async () => {
    const { award, file, folder, sent } = await reported(IDS, (text) => text)
    const text = readFileSync(join(folder, 'r.csv'), 'utf8')
    file('added.csv', `${text}${wallet(3)},3,new,,,,,,,\r\n`)
    expect(await award(['added.csv', ...SEND, ...OWN])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('line 4: the ledger has no award ""'),
    })
    file('cut.csv', text.replace('result_id', 'result_it'))
    expect(await award(['cut.csv', ...SEND, ...OWN])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('lacks the column result_id'),
    })
    expect(sent()).toBe(0)
  })
})

describe('a corrected report is sent once:', () => {
  test('rows with mistakes, whose report has the mistake of each', async () => {
    const setting = await setUp()
    const { file, folder, award, made } = setting
    await award([file('one.csv', listOf(1)), ...SEND, ...OWN])
    file('list.csv', `${listOf(3)}${wallet(9)},"1,000",launch party\n${wallet(8)},8,a,b\n`)
    expect(await award(['list.csv', ...SEND, ...OWN, ...REPORT])).toMatchObject({ code: 2 })
    const rows = readReport(setting)
    expect(rows.map(({ result_verdict }) => result_verdict)).toEqual([
      'awarded',
      'not_sent',
      'not_sent',
      'invalid',
      'invalid',
    ])
    expect(rows[3]?.result_reason).toMatch(/^column xp: "1,000" has thousands separators/)
    expect(rows[4]).toMatchObject({
      address: `${wallet(8)},8,a,b`,
      xp: '',
      result_reason: expect.stringContaining('4 cells'),
    })
    const corrected = readFileSync(join(folder, 'r.csv'), 'utf8')
      .replace('"1,000"', '1000')
      .replace(`"${wallet(8)},8,a,b",,`, `${wallet(8)},8,"a,b"`)
    file('corrected.csv', corrected)
    for (const awards of [5, 5]) {
      expect(await award(['corrected.csv', ...SEND, ...OWN])).toMatchObject({ code: 0 })
      expect(made()).toHaveLength(awards)
    }
  })

  test('a rejected row with another address', async () => {
    const { file, folder, award, made, service } = await setUp()
    file('list.csv', listOf(2))
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: 1 })
    await award(['list.csv', ...SEND, ...OWN, ...REPORT, '--concurrency', '1'])
    file('corrected.csv', readFileSync(join(folder, 'r.csv'), 'utf8').replace(wallet(1), wallet(7)))
    expect(await award(['corrected.csv', ...SEND, ...OWN])).toMatchObject({ code: 0 })
    expect(made()).toHaveLength(2)
  })

  // A spreadsheet changes `00123` in the column of the list, but not in `result_id` if that is a column of text.
  test.each([
    ['reason', 'launch party', 'Launch party'],
    ['id', '00123', '123'],
  ])('but a rejected row whose %s changed must say that it was not sent', async (column, from, to) => {
    const { file, folder, award, made, service } = await setUp()
    file('list.csv', `address,xp,${column}\n${wallet(1)},1,${from}\n`)
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: 1 })
    await award(['list.csv', ...SEND, ...OWN, ...REPORT])
    const changed = readFileSync(join(folder, 'r.csv'), 'utf8').replace(`,${from},`, `,${to},`)
    file('changed.csv', changed)
    const refused = await award(['changed.csv', ...SEND, ...OWN])
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('write not_sent in result_verdict') })
    file('stated.csv', changed.replace(',rejected,', ',not_sent,'))
    expect(await award(['stated.csv', ...SEND, ...OWN])).toMatchObject({ code: 0 })
    expect(made()).toHaveLength(1)
  })
})

test('cells with line breaks stay in their row', async () => {
  const { file, folder, award } = await setUp()
  const note = 'first line\n=1+1'
  file('list.csv', `address,xp,id,note\n${wallet(1)},1,a,"${note}"\n`)
  expect(await award(['list.csv', ...SEND, ...OWN, ...REPORT])).toMatchObject({ code: 0 })
  const [, row] = parse(readFileSync(join(folder, 'r.csv'), 'utf8'), { bom: true }) as string[][]
  expect(row?.slice(0, 4)).toEqual([wallet(1), '1', 'a', note])
  expect(await award(['r.csv', ...SEND, ...OWN])).toMatchObject({ code: 0 })
})

test.each([
  ['deleted', (ledger: string) => renameSync(ledger, `${ledger}.away`)],
  ['replaced', (ledger: string) => renameSync(`${ledger}.other`, ledger)],
])('no CSV report is written if the ledger is %s during the run: no row would have its verdict', async (_, lose) => {
  const { file, folder, award, made, service } = await setUp()
  file('list.csv', listOf(20))
  writeFileSync(join(folder, 'my.ledger.other'), '')
  let isLost = false
  service.subscribe(() => {
    if (isLost || made().length < 10) return
    isLost = true
    lose(join(folder, 'my.ledger'))
  })
  const { stderr } = await award(['list.csv', ...SEND, ...OWN, '--report', 'r.csv', '--report', 'r.json'])
  expect(stderr).toContain('--report "r.csv" cannot be written: the ledger, which has the verdict of each row, is lost')
  expect(existsSync(join(folder, 'r.csv'))).toBe(false)
  const { given } = JSON.parse(readFileSync(join(folder, 'r.json'), 'utf8')) as { given: { awards: number } }
  expect(given.awards).toBeGreaterThan(0)
})

test('the report of a list with a syntax error has a row for it, which is a mistake again', async () => {
  const setting = await setUp()
  const { file, award, service } = setting
  file('list.csv', `${listOf(2)}${wallet(3)},3,"not closed\n`)
  expect(await award(['list.csv', ...SEND, ...REPORT])).toMatchObject({ code: 2 })
  expect(readReport(setting).at(-1)).toMatchObject({ address: '', result_line: '4', result_verdict: 'invalid' })
  const again = await award(['r.csv', ...SEND, ...OWN])
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('line 4, column address: the cell is empty') })
  expect(service.requests).toEqual([])
})

test('a CSV report of a dry run has the plan for each row', async () => {
  const setting = await setUp()
  setting.file('party.csv', listOf(2))
  const ended = await setting.award(['party.csv', '--pid', 'demo', '--dry-run', ...REPORT, '--json'])
  expect(jsonOf(ended)).toMatchObject({ dryRun: true })
  expect(readReport(setting).map(({ result_verdict }) => result_verdict)).toEqual(['not_sent', 'not_sent'])
})
