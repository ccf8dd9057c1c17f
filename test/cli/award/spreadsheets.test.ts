import { describe, expect, test } from 'vitest'
import type { ColumnNames } from '../../../src/cli/award/cells.ts'
import { parseList } from '../../../src/cli/award/list.ts'
import { setUp, wallet } from './set-up.ts'

const parse = (content: string, columns?: ColumnNames) =>
  parseList('list.csv', Buffer.from(content), { pid: 'demo', allowed: undefined, maxXp: undefined, columns })

const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`

const FORMULAS = ['=VLOOKUP(A2;B:C;2)', '="00123"', '=1', '=']
const ERRORS = ['#N/A', '#N/D', '#NV', '#REF!', '#DIV/0!', '#NAME?', '#WERT!', '#¡VALOR!', '#¿NOMBRE?', 'Err:502']
const TOO_NARROW = ['#', '########']
const ESCAPED = ["'=1", "'+1", "'-promo-2", "'@ada", "'＝1", "'＋1", "'－1", "'＠ada", "'\tx"]

describe('what a spreadsheet left in a cell is a mistake of its line:', () => {
  test.each([...FORMULAS, ...ERRORS, ...TOO_NARROW, ...ESCAPED])('%s', (cell) => {
    for (const column of ['address', 'xp', 'id', 'reason', 'pid']) {
      const names = [...new Set(['address', 'xp', column === 'reason' ? 'reason' : 'id', 'pid'])]
      const values: Record<string, string> = { address: wallet(1), xp: '1', id: 'a', reason: 'a', pid: 'demo' }
      const row = names.map((name) => quoted(name === column ? cell : (values[name] as string)))
      const { problems } = parse([names.join(','), row.join(',')].join('\n'))
      expect(problems).toEqual([{ rule: 'spreadsheet', line: 2, column, message: expect.any(String) }])
      expect(problems[0]?.message).toContain(JSON.stringify(cell))
    }
  })

  test.each([
    '#1 fan',
    '#winner!',
    '##2',
    '#N/A-team',
    "'quoted'",
    "'s Gravenhage",
    '-promo-2',
    '+5',
    '@ada',
    'Err:',
    'err:502',
  ])('but not the text %s', (cell) => {
    expect(parse(`address,xp,id\n${wallet(1)},1,${quoted(cell)}\n`)).toMatchObject({
      problems: [],
      rows: [{ id: cell }],
    })
  })

  test('but not in a column that is not used', () => {
    const list = parse(`address,xp,id,reason,note\n${wallet(1)},1,a,#N/A,=1+1\n`)
    expect(list).toMatchObject({ problems: [], rows: [{ id: 'a' }] })
  })
})

describe('rounded ids', () => {
  const linesOf = (...ids: string[]): unknown[] => {
    const rows = ids.map((id, at) => `${wallet(at + 1)},1,${id}`)
    const { problems } = parse(['address,xp,id', ...rows].join('\n'))
    return problems.filter(({ rule }) => rule === 'rounded').map(({ line }) => line)
  }

  test('are mistakes if two are equal, or if there are three', () => {
    expect(linesOf('1234567890123450000', '1234567890123450000', 'other')).toEqual([2, 3])
    expect(linesOf('1234567890123450000', '9234567890123450000', 'other', '723456789012345000')).toEqual([2, 3, 5])
  })

  test('of one wallet, one award and one reason are mistakes, too', () => {
    const row = `${wallet(1)},1,1234567890123450000`
    expect(parse(['address,xp,id', row, row, row].join('\n')).problems).toHaveLength(3)
  })

  test('are accepted if one has another digit after the 15th, or if there are two different ones', () => {
    expect(linesOf('1234567890123450000', '1234567890123450000', '1234567890123450001')).toEqual([])
    expect(linesOf('1234567890123450000', '9234567890123450000')).toEqual([])
    expect(linesOf('123456789012345', '123456789012345000x', '100')).toEqual([])
  })
})

describe('--columns', () => {
  const LIST = `Name;Wallet;Points;xp;Booking, text\nAda;${wallet(1)};5;7;bonus\n`

  test('maps headings', async () => {
    const { file, award, service } = await setUp()
    file('list.csv', LIST)
    const args = ['list.csv', '--pid', 'demo', '--yes', '--columns', 'address=wallet,xp=Points,reason=Booking, text']
    expect(await award(args)).toMatchObject({ code: 0, stderr: expect.stringContaining('ignored columns: name, xp\n') })
    expect(service.state.awards).toMatchObject([{ address: wallet(1), xp: 5 }])
  })

  test.each([
    ['address=Wallet,xp=Total', 'has no column "Total" (named by --columns for xp); it names "name", "wallet"'],
    ['address=Wallet,xp=Wallet,id=Name', '--columns uses the column "wallet" for both'],
    ['address=Wallet,address=Name', 'address is given twice'],
    ['wallet=Wallet', 'Use NAME=HEADING'],
    ['address=', 'Use NAME=HEADING'],
    ['Wallet', 'Use NAME=HEADING'],
  ])('%s is refused, and nothing is sent', async (columns, sentence) => {
    const { file, award, service } = await setUp()
    file('list.csv', LIST)
    const args = ['list.csv', '--pid', 'demo', '--yes', '--columns', columns]
    expect(await award(args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) })
    expect(service.requests).toEqual([])
  })

  test('refuses a heading that the list has twice', async () => {
    const { file, award } = await setUp()
    file('list.csv', `Wallet,wallet,xp,id\n${wallet(1)},${wallet(2)},1,a\n`)
    const ended = await award(['list.csv', '--pid', 'demo', '--yes', '--columns', 'address=Wallet'])
    expect(ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has two columns "wallet" (named by --columns for '),
    })
  })
})
