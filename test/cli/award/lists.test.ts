import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AwardList, listFailure, parseList, totalsOf } from '../../../src/cli/award/list.ts'
import { hasWrongChecksum } from '../../../src/cli/award/plan.ts'
import { wallet } from './set-up.ts'

const LONG_QUOTE = `"${'x'.repeat(100)}\n`.repeat(2_000)

const listOf = (content: string | Uint8Array, pid: string | null = 'demo'): AwardList =>
  parseList('list.csv', typeof content === 'string' ? Buffer.from(content) : content, {
    pid: pid ?? undefined,
    allowed: undefined,
    maxXp: undefined,
  })

/** Returns the awards of a list, or its mistakes. */
function read(content: string | Uint8Array, pid?: string | null): unknown[] {
  const list = listOf(content, pid)
  return list.problems.length > 0 ? problemsOf(list) : list.rows.map(({ line: _, ...row }) => row)
}

const problemsOf = (list: AwardList): unknown[] =>
  listFailure(list.name, list.problems).details.result?.problems as unknown[]

const utf16 = (text: string, isBig: boolean): Uint8Array => {
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
  return isBig ? bytes.swap16() : bytes
}

const ROW = { address: wallet(1), pid: 'demo', id: 'a;1', xp: 2.5 }

describe('reads a list with', () => {
  const lines = ['address,xp,id', `${wallet(1)},2.5,a;1`, '']
  const plain = lines.join('\n')
  const tabs = plain.replaceAll(',', '\t')
  test.each<[string, string | Uint8Array]>([
    ['commas', plain],
    ['a byte order mark', `\ufeff${plain}`],
    ['CRLF', lines.join('\r\n')],
    ['CRLF and LF', lines.join('\r\n').replace('\r', '')],
    ['no line break at the end', plain.trimEnd()],
    ['quotes', plain.replace('a;1', '"a;1"').replace('address', '"address"')],
    ['semicolons', plain.replace('a;1', '"a;1"').replaceAll(',', ';')],
    ['tabs', tabs],
    ['UTF-16 and tabs', utf16(tabs.replaceAll('\n', '\r\n'), false)],
    ['big-endian UTF-16', utf16(tabs, true)],
    ['a line sep=;', `sep=;\r\n${plain.replace('a;1', '"a;1"').replaceAll(',', ';')}`],
    ['vertical bars', plain.replaceAll(',', '|')],
    ['empty lines and rows', plain.replaceAll('\n', '\n\n,,\n')],
    ['empty columns', plain.replaceAll('\n', ',,\n')],
    ['white space', plain.replaceAll(',', ' , ').replace('address', ' Address ')],
    ['no-break spaces', plain.replaceAll(',', ',\u00a0')],
    ['a column with line breaks', `note,address,xp,id\n"one\ntwo, ""three""\r\n",${lines[1]}`],
  ])('%s', (_, content) => {
    expect(read(content)).toEqual([ROW])
  })
})

describe('line numbers', () => {
  test.each(['\n', '\r\n'])('count every line of the file, with line ends %j', (end) => {
    const content = ['note,address,xp,id', '', `"1${end}2${end}3",${wallet(1)},x,1`, ',,,', `,${wallet(1)},y,2`].join(
      end,
    )
    expect(read(content)).toMatchObject([{ line: 3 }, { line: 7 }])
  })

  test('count the line that names the delimiter', () => {
    expect(read(`sep=;\naddress;xp;id\n${wallet(1)};x;1\n`)).toMatchObject([{ line: 3 }])
  })

  test.each([
    [`address,xp,id\n${wallet(1)},1,"a`, 2, 'not closed'],
    [`address,xp,id\n${wallet(1)},1,a\n${wallet(1)},x,b\n${wallet(1)},1,"a"b\n`, 4, 'follows a closing quote'],
    [`address,xp,id\n${wallet(1)},1,="007"\n`, 2, 'in the middle of a cell'],
    [`address,xp,id\n${wallet(1)},1,${'x'.repeat(10_000_000)}\n`, 2, 'longer than'],
    [`address,xp,id\n${wallet(1)},1,"a\n${LONG_QUOTE.replaceAll('"', '')}`, 2, 'longer than'],
  ])('locate the first syntax error: case %#', (content, line, words) => {
    const found = read(content).at(-1)
    expect(found).toMatchObject({ message: expect.stringContaining(words) })
    expect((found as { line: number }).line).toBe(line)
  })

  test.each([
    [500, 20, '"lost', 'not closed'],
    [500, 20_000, '"lost', 'longer than'],
    [500, 1_000, '"lo"st', 'follows a closing quote'],
    [15_000, 20_000, 'lo"st', 'in the middle of a cell'],
  ])('locate a syntax error on line %i', (wrongLine, rowsAfter, id, words) => {
    const row = (line: number) => `${wallet(line)},1,${line === wrongLine ? id : line}\n`
    const lines = Array.from({ length: wrongLine + rowsAfter - 1 }, (_, index) => row(index + 2))
    expect(read(`address,xp,id\n${lines.join('')}`).at(-1)).toEqual({
      rule: 'csv',
      line: wrongLine,
      message: expect.stringContaining(words),
    })
  })
})

test('an address in another letter case is the same wallet, and the same award', () => {
  const mixed = '0x52908400098527886E0F7030069857D2E4169EE7'
  const list = listOf(`address,xp,reason\n${mixed},1,a\n${mixed.toLowerCase()},1,a\n${mixed.toLowerCase()},1,b\n`)
  expect(list.problems).toEqual([])
  expect(totalsOf(list.awards.values())).toEqual({ awards: 2, wallets: 1, xp: 2 })
})

test('totals count each wallet once, and add decimals exactly', () => {
  const tenths = Array.from({ length: 1_000 }, (_, at) => ({ address: wallet(at % 7), pid: 'p', id: `${at}`, xp: 0.1 }))
  expect(totalsOf(tenths)).toEqual({ awards: 1_000, wallets: 7, xp: 100 })
})

describe('an amount of XP', () => {
  const xpOf = (cell: string) => {
    const [found] = read(`address;xp;id\n${wallet(1)};${cell};a\n`) as { xp?: number; message?: string }[]
    return found?.xp ?? found?.message
  }
  test.each([
    ['250', 250],
    ['007', 7],
    ['12.5', 12.5],
    ['0.125', 0.125],
    ['1.2500', 1.25],
    ['123456789012345', 123456789012345],
  ])('%s is %d', (cell, xp) => {
    expect(xpOf(cell)).toBe(xp)
  })

  test.each([
    ['1,000', 'thousands separators'],
    ['1 000', 'thousands separators'],
    ['1\u00a0000', 'thousands separators'],
    ['1\u202f000', 'thousands separators'],
    ["1'000", 'thousands separators'],
    ['1,000.50', 'thousands separators'],
    ['1.000.000', 'thousands separators'],
    ['1.000', 'write 1000 or 1.0000'],
    ['12,5', 'write 12.5'],
    ['1e3', 'scientific notation'],
    ['2,50E+02', 'scientific notation'],
    ['-5', 'must be above 0'],
    ['\u22125', 'must be above 0'],
    ['0', 'must be above 0'],
    ['0.000', 'must be above 0'],
    ['', 'is empty'],
    ['NaN', 'write digits, for example'],
    ['Infinity', 'write digits, for example'],
    ['0x10', 'write digits, for example'],
    ['٣', 'write digits, for example'],
    ['250 XP', 'write digits, for example'],
    ['1234567890123456', 'more than 15 digits'],
  ])('%j is refused', (cell, words) => {
    expect(xpOf(cell)).toContain(words)
  })

  test('is read exactly, or refused', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.string({ unit: fc.constantFrom(...'0123456789.,eE+- \u00a0'), maxLength: 12 }),
      fc.double({ noNaN: true }).map(String),
      fc.integer().map((number) => number.toLocaleString('de')),
    )
    fc.assert(
      fc.property(
        text.filter((cell) => !/["\r\n;]/.test(cell)),
        (cell) => {
          const found = xpOf(cell)
          if (typeof found !== 'number') return
          expect(cell.trim()).toMatch(/^\d+(?:\.\d+)?$/)
          expect(found).toBe(Number(cell.trim()))
        },
      ),
      { numRuns: 150 },
    )
  })
})

test('reads any text that another program wrote to a list', () => {
  const texts = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => {
    return (
      text.trim() === text &&
      text !== '' &&
      !/\p{Cc}|\p{Default_Ignorable_Code_Point}|(?! )\p{White_Space}/u.test(text) &&
      text === text.normalize('NFC') &&
      !/^\d[.,]\d+e\+\d+$/i.test(text) &&
      // Formulas, errors of formulas, escaped formulas: refused.
      !/^(?:=|#|Err:|')/.test(text)
    )
  })
  const row = fc.record({ id: texts, xp: fc.integer({ min: 1, max: 100_000 }), number: fc.nat(1_000) })
  const rows = fc.uniqueArray(row, { minLength: 1, maxLength: 30, selector: ({ id }) => id })
  const style = fc.record({
    delimiter: fc.constantFrom(',', ';', '\t'),
    end: fc.constantFrom('\n', '\r\n'),
    bom: fc.boolean(),
    order: fc.shuffledSubarray(['address', 'xp', 'id'], { minLength: 3 }),
    quotesAll: fc.boolean(),
  })
  fc.assert(
    fc.property(rows, style, (awards, { delimiter, end, bom, order, quotesAll }) => {
      const cell = (text: string) => (quotesAll || /[",;\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
      const lines = awards.map(({ id, xp, number }) => {
        const cells: Record<string, string> = { address: wallet(number), xp: String(xp), id }
        return order.map((column) => cell(cells[column] ?? '')).join(delimiter)
      })
      const content = `${bom ? '\ufeff' : ''}${[order.join(delimiter), ...lines].join(end)}${end}`
      const expected = awards.map(({ id, xp, number }) => ({ address: wallet(number), pid: 'demo', id, xp }))
      expect(read(content)).toEqual(expected)
    }),
    { numRuns: 100 },
  )
})

test('reads any bytes as a list, or refuses the bytes with exit code 2', () => {
  const header = Buffer.from('address,xp,id\n')
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, hasHeader) => {
      const content = hasHeader ? Buffer.concat([header, bytes]) : bytes
      try {
        expect(read(content).length).toBeGreaterThan(0)
      } catch (error) {
        expect(error).toMatchObject({ exitCode: 2 })
      }
    }),
    { numRuns: 200 },
  )
})

describe('refuses a file that is not a list', () => {
  const header = 'address,xp,id'
  test.each<[string, string | Uint8Array, string]>([
    ['an empty file', '', 'is empty'],
    ['a byte order mark alone', '\ufeff', 'is empty'],
    ['empty lines', '\n\n', 'is empty'],
    ['a header without rows', `${header}\n`, 'has no rows'],
    ['rows without a header', `${wallet(1)},1,a\n`, 'contains a wallet'],
    ['a column name that is given twice', `${header},XP\n${wallet(1)},1,a,2\n`, 'has two columns "xp"'],
    ['a missing column', 'wallet,xp,id\n', 'lacks the column address; it names "wallet", "xp", "id"'],
    ['several missing columns', 'a|b\n', 'lacks the columns address, xp, id or reason'],
    ['a delimiter that is not supported', 'sep="\naddress"xp"id\n', 'line 1: a quote is'],
    ['a workbook', new Uint8Array([0x50, 0x4b, 3, 4, 0, 0]), 'is a workbook'],
    ['a CR without LF in the header', `address,xp,id,no\rte\n${wallet(1)},1,a,\n`, 'line 1 contains a carriage return'],
    [
      'a CR without LF in an ignored cell',
      `${header},note\n${wallet(1)},1,a,x\ry\n${wallet(2)},1,b,\n`,
      'line 2 contains',
    ],
    ['CR as line end', `${header}\r${wallet(1)},1,a\r`, 'line 1 contains a carriage return without a line feed'],
    [
      'a control character in an ignored cell',
      `${header},note\n${wallet(1)},1,a,\u001b[2J\n`,
      'line 2 contains the control character U+001B',
    ],
    ['a C1 control character', `${header}\n${wallet(1)},1,a\u0085\n`, 'U+0085'],
    ['a NUL character', `${header}\n${wallet(1)},1,a\0\n`, 'NUL'],
    ['UTF-16 without a byte order mark', Buffer.from(`${header}\n`, 'utf16le'), 'NUL'],
    ['another encoding', Buffer.from(`${header}\n${wallet(1)},1,a\n${wallet(2)},1,caf\xe9\n`, 'latin1'), 'line 3'],
    ['UTF-16 with an odd number of bytes', utf16(header, false).slice(0, -1), 'not text'],
  ])('%s', (_, content, words) => {
    expect(() => read(content)).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.stringContaining(words) }),
    )
  })

  test('and names the line of an encoding error', () => {
    const rows = Array.from({ length: 9_000 }, (_, index) => `${wallet(index)},1,ü${index}`).join('\n')
    const content = Buffer.concat([Buffer.from(`${header}\n${rows}\n`), Buffer.from('x,1,caf\xe9\n', 'latin1')])
    expect(() => read(content)).toThrow('line 9002')
    expect(read(content.subarray(0, -9))).toHaveLength(9_000)
  })
})

test('refuses line breaks in ids, and ids and reasons that a spreadsheet turned into numbers', () => {
  expect(read(`address,xp,id\n${wallet(1)},1,"a\nb"\n5.29E+47,1,1.00E+15\n${wallet(1)},1,1E+12\n`)).toMatchObject([
    { line: 2, column: 'id', message: expect.stringContaining('U+000A') },
    { line: 4, column: 'address', message: expect.stringContaining('format the column as text') },
    { line: 4, column: 'id', message: expect.stringContaining('format the column as text') },
    { line: 5, column: 'id', message: expect.stringContaining('format the column as text') },
  ])
  // Two order numbers of one wallet became equal.
  const orders = `${wallet(1)},1,1.23457E+12\n${wallet(1)},1,1.23457E+12\n`
  expect(read(`address,xp,reason\n${orders}`)).toMatchObject([
    { line: 2, column: 'reason', message: expect.stringContaining('format the column as text') },
    { line: 3, column: 'reason', message: expect.stringContaining('format the column as text') },
  ])
})

describe('a text that looks like another one', () => {
  const HIDDEN = [
    ['\u00a0', 'white space other than a space: U+00A0'],
    ['\t', 'white space other than a space: U+0009'],
    ['\u034f', 'the invisible character: U+034F'],
    ['\u3164', 'the invisible character: U+3164'],
    ['\u200b', 'the invisible character: U+200B'],
    ['\u{e0020}', 'the invisible character: U+E0020'],
  ] as const
  const listWith = (column: string, ...texts: string[]) =>
    read([`address,xp,pid,${column}`, ...texts.map((text) => `${wallet(1)},1,demo,"${text}"`)].join('\n'), null)

  test.each(HIDDEN)(
    'has %j: a mistake in an id and a campaign, and in a reason beside the plain one',
    (character, words) => {
      const text = `launch${character}party`
      const plain = words.startsWith('white') ? 'launch party' : 'launchparty'
      expect(listWith('id', text)).toMatchObject([{ line: 2, column: 'id', message: expect.stringContaining(words) }])
      const content = `address,xp,id,pid\n${wallet(1)},1,a,"${text}"`
      expect(read(content, null)).toMatchObject([{ line: 2, column: 'pid', message: expect.stringContaining(words) }])
      expect(listWith('reason', plain, text)).toMatchObject([
        { rule: 'text', line: 3, column: 'reason', message: expect.stringContaining(`line 2, but has ${words}`) },
      ])
      // Alone, as in a text of another language, it is the reason.
      expect(listWith('reason', text)).toMatchObject([{ xp: 1 }])
      expect(read(`address,xp,reason\n${wallet(1)},1,${plain}\n${wallet(2)},1,"${text}"`)).toHaveLength(2)
    },
  )

  test('passes if it is a reason with emoji, or in Persian or Japanese', () => {
    const reasons = ['👩\u200d🚀️ party', '❤\ufe0f', 'می\u200cخواهم', '誕生日\u3000会', 'クイズ 7']
    expect(listWith('reason', ...reasons)).toHaveLength(reasons.length)
  })

  test('is the same reason with spaces at its ends or in another Unicode form, and a mistake of an id', () => {
    const list = listOf(`address,xp,reason\n${wallet(1)},1,caf\u00e9\n${wallet(1)},1,"cafe\u0301 \u00a0"\n`)
    expect({ problems: list.problems, awards: list.awards.size }).toEqual({ problems: [], awards: 1 })
    expect(listWith('id', 'caf\u00e9', 'cafe\u0301', 'a ', ' b')).toMatchObject(
      [
        { line: 4, column: 'id', message: '"a " starts or ends with a space' },
        { line: 5, column: 'id', message: '" b" starts or ends with a space' },
        { line: 3, column: 'id', message: expect.stringContaining('id of line 2, but has another Unicode form') },
      ].sort((one, other) => one.line - other.line),
    )
    expect(listWith('reason', '\u3164')).toMatchObject([{ message: 'the cell is empty' }])
  })

  test('is a mistake even if two reasons look alike only with compatibility characters', () => {
    expect(listWith('reason', 'Ｑuiz 1', 'Quiz\u00a01')).toMatchObject([{ line: 3, column: 'reason' }])
    expect(listWith('reason', 'Ｑuiz 1', 'Quiz 1')).toHaveLength(2)
    expect(listWith('reason', 'Ｑuiz 1', 'Quiz 1')[0]).toMatchObject({ xp: 1 })
  })
})

test('reports a blank cell in quotes with the other mistakes', () => {
  const header = 'address,xp,reason,pid\n'
  const rows = [
    `${wallet(1)},oops,a,demo`,
    `${wallet(2)},5,"  ",demo`,
    `${wallet(3)},5,b,"\u00a0"`,
    '0x3,5,"\ufeff",demo',
  ]
  expect(read(header + rows.join('\n'), null)).toMatchObject([
    { line: 2, column: 'xp' },
    { line: 3, column: 'reason', message: 'the cell is empty' },
    { line: 4, column: 'pid', message: 'the cell is empty' },
    { line: 5, column: 'address' },
    { line: 5, column: 'reason', message: 'the cell is empty' },
  ])
  expect(read(`address,xp,id\n${wallet(1)},5," "\n`)).toEqual([
    { rule: 'empty', line: 2, column: 'id', message: 'the cell is empty' },
  ])
})

test('reads any cell as a part of an award, or as a mistake with line and column', () => {
  const odd = fc.constantFrom(...' \t\u00a0\u2000\u2028\u200b\u3000\ufeff\u0301\u0085e"')
  const cell = fc.oneof(fc.string({ unit: odd, maxLength: 3 }), fc.string({ unit: 'binary', maxLength: 5 }))
  const quoted = cell
    .filter((text) => !/(?![\t\n\r])\p{Cc}|\r(?!\n)/u.test(text))
    .map((text) => `"${text.replaceAll('"', '""')}"`)
  fc.assert(
    fc.property(fc.tuple(fc.constantFrom('reason', 'id'), fc.nat(3), quoted), ([name, place, text]) => {
      const cells = [wallet(1), '5', 'quiz', 'demo'].with(place, text)
      for (const found of read(`address,xp,${name},pid\n${cells}\n`, null)) {
        if (found !== null && typeof found === 'object' && 'id' in found) continue
        expect(found).toMatchObject({ line: 2, column: ['address', 'xp', name, 'pid'][place] })
      }
    }),
    { numRuns: 300 },
  )
})

describe('the address', () => {
  const good = '0x52908400098527886E0F7030069857D2E4169EE7'
  test.each([
    [`${good.slice(0, 6)}g${good.slice(7)}`, 'character 7 is "g"'],
    [good.slice(0, -1), 'it has 41 characters, not 42'],
    [`${good}0`, 'it has 43 characters, not 42'],
    [`0X${good.slice(2)}`, 'character 2 is "X"'],
    [`${good.slice(0, 41)}\u200b`, 'character 42 is "\u200b"'],
    [good.slice(2), 'it has 40 characters, not 42, character 1 is "5"'],
  ])('%s is shown in full, with its mistake', (cell, words) => {
    const [found] = read(`address,xp,id\n${cell},1,a\n`) as [{ message: string }]
    expect(found.message).toBe(`${JSON.stringify(cell)} must be 0x and 40 hex digits; ${words}`)
  })
})

test.each([
  ['0x52908400098527886E0F7030069857D2E4169EE7', false],
  ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', false],
  ['0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', true],
  ['0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed', false],
  ['0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb', false],
  ['0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDB', true],
])('the checksum of %s is wrong: %s', (address, isWrong) => {
  expect(hasWrongChecksum(address)).toBe(isWrong)
})

test('shows the first 20 mistakes grouped by rule, with at least one of each rule', () => {
  const rows = Array.from({ length: 5_000 }, (_, at) => `${wallet(at)},${at === 4_998 ? 'x' : 7},${at}`)
  rows.push('0x1,7,a')
  const list = parseList('list.csv', Buffer.from(['address,xp,id', ...rows].join('\n')), {
    pid: 'demo',
    allowed: undefined,
    maxXp: 5,
  })
  const { lines = [] } = listFailure(list.name, list.problems).details
  expect(lines.filter((line) => line.startsWith('  line '))).toHaveLength(20)
  expect(lines.filter((line) => !line.startsWith('  '))).toEqual([
    'more XP than --max-xp: 5000 mistakes',
    'not an amount of XP: 1 mistake',
    'not a wallet address: 1 mistake',
  ])
  expect(lines).toContain('  … and 4982 more')
  expect(listFailure(list.name, list.problems).details.result).toMatchObject({
    problemsByRule: { max_xp: 5_000, xp: 1, address: 1 },
  })
})

test('counts all mistakes and lists the first 1 000', () => {
  const content = ['address,xp,id', ...Array.from({ length: 5_000 }, (_, at) => `${wallet(1)},x,${at}`)].join('\n')
  const list = listOf(content)
  expect(listFailure(list.name, list.problems)).toMatchObject({
    message: expect.stringContaining('5000 mistakes'),
    details: { result: { problemsOmitted: 4_000 } },
  })
  expect(problemsOf(list)).toHaveLength(1_000)
})
