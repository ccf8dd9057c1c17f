import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { jsonOf } from '../command.ts'
import { setUp, wallet } from './set-up.ts'

const ARGS = ['list.csv', '--pid', 'demo', '--skip-invalid']

const listOf = (column: string, ...rows: readonly (readonly [number, string, string])[]): string =>
  [`address,xp,${column}`, ...rows.map(([number, xp, text]) => `${wallet(number)},"${xp}","${text}"`), ''].join('\n')

/** Returns the flags that send the plan of a dry run. */
async function reviewed({ award }: Awaited<ReturnType<typeof setUp>>, ...flags: string[]): Promise<string[]> {
  const { sha256 } = jsonOf(await award([...ARGS, ...flags, '--dry-run', '--json']))
  return [...ARGS, ...flags, '--yes', '--expect', sha256 as string]
}

test('--skip-invalid sends the rows without a mistake, and reports the others as invalid', async () => {
  const setting = await setUp()
  const { file, folder, award, made } = setting
  file('list.csv', listOf('id', [1, '1', 'a'], [2, '1,000', 'b'], [3, '3', 'c']))
  const args = await reviewed(setting)
  const ended = await award([...args, '--report', 'r.csv', '--report', 'r.json'])
  expect(ended).toMatchObject({ code: 1, stdout: expect.stringContaining('1 row with mistakes: skipped\n') })
  expect(ended.stderr).toMatch(
    /skipped {3}1 row with mistakes\n +not an amount of XP: 1 mistake\n +line 3, column xp: /,
  )
  expect(ended.stderr).toContain('next: correct the skipped rows in the list, and run it again with the same ledger')
  expect(made().sort()).toEqual([`${wallet(1)} 1`, `${wallet(3)} 3`])
  const rows: Record<string, string>[] = parse(readFileSync(join(folder, 'r.csv')), { bom: true, columns: true })
  expect(rows.map(({ result_verdict }) => result_verdict)).toEqual(['awarded', 'invalid', 'awarded'])
  expect(rows[1]?.result_reason).toMatch(/^column xp: "1,000" has thousands separators/)
  expect(JSON.parse(readFileSync(join(folder, 'r.json'), 'utf8'))).toMatchObject({
    rows: 2,
    exitCode: 1,
    plan: { rows: 2, xp: 4, skipped: { rows: 1, problems: [{ line: 3, rule: 'xp' }], problemsOmitted: 0 } },
  })
  // The rows to send are the same, and so is their hash.
  file('list.csv', listOf('id', [1, '1', 'a'], [2, 'x', 'b'], [3, '3', 'c']))
  expect(await reviewed(setting)).toEqual(args)
  file('list.csv', listOf('id', [1, '1', 'a'], [2, '2', 'b'], [3, '3', 'c']))
  expect(await award([...ARGS.slice(0, -1), '--yes'])).toMatchObject({ code: 0 })
  expect(made()).toHaveLength(3)
})

describe('--skip-invalid skips all rows of', () => {
  test.each([
    ['a contradiction', listOf('id', [1, '1', 'a'], [1, '2', 'a'], [1, '1', 'a'], [4, '4', 'd'])],
    ['one id', listOf('id', [1, '1', 'a'], [1, 'x', 'a'], [1, '1', 'a'], [4, '4', 'd'])],
    ['one reason', listOf('reason', [1, '1', 'a'], [1, 'x', 'a '], [1, '1', 'a'], [4, '4', 'd'])],
    ['look-alikes', listOf('reason', [1, '1', 'a b'], [1, '1', 'a\u00a0b'], [1, '1', 'a b'], [4, '4', 'd'])],
  ])('%s', async (_, content) => {
    const setting = await setUp()
    setting.file('list.csv', content)
    const json = jsonOf(await setting.award([...(await reviewed(setting)), '--json']))
    expect(json).toMatchObject({ exitCode: 1, plan: { awards: 1, skipped: { rows: 3 } } })
    expect(setting.made()).toEqual([`${wallet(4)} 4`])
  })

  test('an id for which the ledger has another award', async () => {
    const setting = await setUp()
    const { file, award, made } = setting
    file('list.csv', listOf('id', [1, '1', 'a']))
    await award(['list.csv', '--pid', 'demo', '--yes'])
    file('list.csv', listOf('id', [1, '5', 'a'], [1, '5', 'a'], [2, '2', 'b']))
    const json = jsonOf(await award([...(await reviewed(setting)), '--json']))
    expect(json).toMatchObject({ exitCode: 1, plan: { awards: 1, skipped: { rows: 2 } } })
    expect(made()).toEqual([`${wallet(1)} 1`, `${wallet(2)} 2`])
  })
})

test.each([
  ['without --expect', listOf('id', [1, '1', 'a'], [2, 'x', 'b']), ['--yes'], 'needs --expect'],
  ['a wrong heading', 'adress,xp,id\n', ['--dry-run'], 'lacks the column address'],
  ['a row above --max-xp', listOf('id', [1, '1', 'a'], [2, '9', 'b']), ['--dry-run', '--max-xp', '5'], '1 mistake'],
  [
    'more than --max-total-xp in the other rows',
    listOf('id', [1, '8', 'a'], [2, 'x', 'b']),
    ['--dry-run', '--max-total-xp', '5'],
    'has 8 XP in total',
  ],
  [
    'rounded ids',
    listOf('id', [1, '1', '1234567890123450000'], [2, '1', '1234567890123450000'], [3, '1', 'a']),
    ['--dry-run'],
    '2 mistakes',
  ],
  ['a quote that is not closed', `${listOf('id', [1, '1', 'a'])}${wallet(2)},1,"b`, ['--dry-run'], 'not closed'],
  ['no other row', listOf('id', [1, 'x', 'a']), ['--dry-run'], '1 mistake'],
])('--skip-invalid refuses a list with %s', async (_, content, flags, words) => {
  const { file, award, service } = await setUp()
  file('list.csv', content)
  expect(await award([...ARGS, ...flags])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(words),
  })
  expect(service.requests).toEqual([])
})
