import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonOf } from '../command.ts'
import { listOf, type Setting, setUp, wallet, withParty } from './set-up.ts'

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

test('the columns of a report are those of the list, even with mapped headings', async () => {
  const setting = await setUp()
  setting.file('list.csv', `=Wallet;Points;reason\n${wallet(1)};5;party\n`)
  const columns = ['--columns', 'address==Wallet,xp=Points']
  expect(await setting.award(['list.csv', ...SEND, ...columns, ...REPORT])).toMatchObject({ code: 0 })
  expect(readReport(setting, ';')).toMatchObject([{ "'=Wallet": wallet(1), Points: '5', result_xp: '5' }])
})

test.each([[], OWN])('a report is no list, with the flags %j', async (...flags) => {
  const { file, folder, award, service } = await setUp()
  file('list.csv', listOf(2))
  await award(['list.csv', ...SEND, ...OWN, ...REPORT])
  const requests = service.requests.length
  file('r2.csv', readFileSync(join(folder, 'r.csv'), 'utf8').replaceAll('awarded', 'not_sent'))
  for (const report of ['r.csv', 'r2.csv']) {
    const ended = await award([report, ...SEND, ...flags])
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toContain(
      'the file is a report of the `award` command, not a list: it has a column result_verdict',
    )
    expect(ended.stderr).toContain('correct the list itself, and run it with the same ledger')
  }
  expect(service.requests).toHaveLength(requests)
})

test('the report of a list with mistakes has the mistake of each row, and the verdicts of its ledger', async () => {
  const setting = await setUp()
  const { file, award } = setting
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
})

test('cells with line breaks stay in their row', async () => {
  const { file, folder, award } = await setUp()
  const note = 'first line\nsecond line'
  file('list.csv', `address,xp,id,note\n${wallet(1)},1,a,"${note}"\n`)
  expect(await award(['list.csv', ...SEND, ...OWN, ...REPORT])).toMatchObject({ code: 0 })
  const [, row] = parse(readFileSync(join(folder, 'r.csv'), 'utf8'), { bom: true }) as string[][]
  expect(row?.slice(0, 4)).toEqual([wallet(1), '1', 'a', note])
})

test('no part of a report is a formula, whatever the separator by which a spreadsheet splits it', async () => {
  const { file, folder, award } = await setUp()
  const part = fc.constantFrom('', 'a', '"', '=1+1', '@sum', '+1 2', '＝1', '-1', '12', "'=1")
  const cell = fc.array(fc.tuple(part, fc.constantFrom('', ',', ';', '\t', '\n', ' ')), { maxLength: 4 })
  const notes = fc.sample(cell, 200).map((parts) => parts.flat().join(''))
  for (const delimiter of [',', ';', '\t']) {
    const rows = notes.map((note, at) => [wallet(at + 1), '1', `a${at}`, note])
    file('list.csv', stringify([['address', 'xp', 'id', 'note'], ...rows], { delimiter, quoted: true }))
    const args = ['list.csv', ...SEND, '--dry-run', ...REPORT]
    expect(await award(args, { env: { CAMPAIGN_BASE_URL: '', CAMPAIGN_ACCESS_TOKEN: '' } })).toMatchObject({ code: 0 })
    const report = readFileSync(join(folder, 'r.csv'), 'utf8')
    const parts = report.split(/[,;\t\r\n]/).map((each) => each.replace(/^(?:"(?!")|(?:"")+(?!"))/, ''))
    expect(parts.filter((each) => /^[=+\-@＝＋－＠]/.test(each) && !/^[+-]\d+"*$/.test(each))).toEqual([])
  }
})

test('no CSV report is written if the ledger is lost during the run: no row would have its verdict', async () => {
  const { file, folder, award, made, service } = await setUp()
  file('list.csv', listOf(20))
  let isLost = false
  service.subscribe(() => {
    if (isLost || made().length < 10) return
    isLost = true
    rmSync(join(folder, 'my.ledger'))
  })
  const { stderr } = await award(['list.csv', ...SEND, ...OWN, '--report', 'r.csv', '--report', 'r.json'])
  expect(stderr).toContain('--report "r.csv" cannot be written: the ledger, which has the verdict of each row, is lost')
  expect(existsSync(join(folder, 'r.csv'))).toBe(false)
  const { given } = JSON.parse(readFileSync(join(folder, 'r.json'), 'utf8')) as { given: { awards: number } }
  expect(given.awards).toBeGreaterThan(0)
})

test('the report of a list with a syntax error has a row for it', async () => {
  const setting = await setUp()
  const { file, award, service } = setting
  file('list.csv', `${listOf(2)}${wallet(3)},3,"not closed\n`)
  expect(await award(['list.csv', ...SEND, ...REPORT])).toMatchObject({ code: 2 })
  expect(readReport(setting).at(-1)).toMatchObject({ address: '', result_line: '4', result_verdict: 'invalid' })
  expect(service.requests).toEqual([])
})

test('a CSV report of a dry run has the plan for each row', async () => {
  const setting = await withParty(2)
  const ended = await setting.award(['party.csv', '--pid', 'demo', '--dry-run', ...REPORT, '--json'])
  expect(jsonOf(ended)).toMatchObject({ dryRun: true })
  expect(readReport(setting).map(({ result_verdict }) => result_verdict)).toEqual(['not_sent', 'not_sent'])
})
