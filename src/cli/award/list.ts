import { createHash } from 'node:crypto'
import { rewardId } from '../../bulk/reward-id.ts'
import type { AwardRow } from '../../bulk/rows.ts'
import { addAward, isSameAward, NO_AWARDS, type Sum } from '../../shared/award.ts'
import { comparableAddress } from '../../shared/wallet-address.ts'
import { EXIT } from '../exit-codes.ts'
import { CommandFailure, usageFailure } from '../failure.ts'
import { inputName } from '../files.ts'
import { HIDDEN, hiddenCharacter, roundedIds, visibleText, withoutHidden } from './cells.ts'
import { formatCount, formatNumber } from './format.ts'
import { type Columns, decodeText, headingsOf, readColumns, readRecords } from './read-csv.ts'
import { type ListProblem, type ListRecord, type ListRow, type RowRules, RULES, readRow } from './read-row.ts'

/** A list of awards, with the mistakes in it. */
export interface AwardList {
  readonly name: string
  /** The first line. */
  readonly columns: Columns
  readonly delimiter: string
  /** All records after the first line. */
  readonly records: readonly ListRecord[]
  /** All rows, in the order of the file. */
  readonly rows: readonly ListRow[]
  /** The first row of each award, by id. */
  readonly awards: ReadonlyMap<string, ListRow>
  /** All mistakes, unsorted. */
  readonly problems: readonly ListProblem[]
  /** The rows that are left out because of mistakes, and the reasons. */
  readonly skipped: { readonly rows: number; readonly problems: readonly ListProblem[] }
}

/** Parses a list and finds all mistakes in it. @throws CommandFailure when it is not a list of awards */
export function parseList(name: string, bytes: Uint8Array, rules: RowRules): AwardList {
  const records: ListRecord[] = []
  const rows: ListRow[] = []
  const mistakes: ListProblem[] = []
  let columns = undefined as Columns | undefined

  const text = decodeText(bytes, inputName(name))
  const { delimiter, syntaxError } = readRecords(text, headingsOf(rules.columns ?? {}), (given) => {
    if (columns === undefined) {
      columns = readColumns(given.cells, rules.pid, rules.columns)
      return
    }
    const { row, id, problems } = readRow(given, columns, rules)
    mistakes.push(...problems)
    records.push({ ...given, row, id })
    if (row !== undefined) rows.push(row)
  })
  if (columns === undefined) {
    throw usageFailure(
      `${inputName(name)}${syntaxError ? `: ${problemText({ rule: 'csv', ...syntaxError })}` : ' is empty'}`,
    )
  }
  const awards = awardsById(rows)
  const problems = [
    ...mistakes,
    ...contradictions(rows, awards, columns),
    ...roundedIdProblems(records, columns),
    ...lookAlikesInList({ columns, records }),
    ...(syntaxError === undefined ? [] : [{ rule: 'csv', ...syntaxError } as const]),
  ]
  if (rows.length === 0 && problems.length === 0) throw usageFailure(`${inputName(name)} has no rows`)
  return { name, columns, delimiter, records, rows, awards, problems, skipped: { rows: 0, problems: [] } }
}

function roundedIdProblems(records: readonly ListRecord[], { places: { id: place } }: Columns): ListProblem[] {
  if (place === undefined) return []
  const idOf = ({ cells }: ListRecord): string => cells[place] ?? ''
  const rounded = roundedIds(records.map(idOf))
  return records
    .filter((record) => rounded.has(idOf(record)))
    .map((record) => {
      const message = `${JSON.stringify(idOf(record))} was rounded to 15 digits by a spreadsheet: format the column as text`
      return { rule: 'rounded', line: record.line, column: 'id', message }
    })
}

/** Returns the first row of each award. */
export function awardsById(rows: readonly ListRow[]): ReadonlyMap<string, ListRow> {
  const awards = new Map<string, ListRow>()
  for (const row of rows) if (!awards.has(row.id)) awards.set(row.id, row)
  return awards
}

/** Finds rows with the id of an earlier row, but another award. */
const contradictions = (rows: readonly ListRow[], awards: AwardList['awards'], columns: Columns): ListProblem[] =>
  rows.flatMap((row) => {
    const first = awards.get(row.id) as ListRow
    return isSameAward(first, row) ? [] : [contradiction(row, first, columns)]
  })

function contradiction({ line }: ListRow, first: ListRow, { places }: Columns): ListProblem {
  const same = `line ${first.line} has the same`
  return places.id === undefined
    ? { rule: 'id', line, column: 'xp', message: `${same} wallet and reason, but another amount` }
    : { rule: 'id', line, column: 'id', message: `${same} id, but another wallet, campaign or amount` }
}

/** Returns the mistakes of a list, sorted by line. */
export const sortedProblems = (problems: readonly ListProblem[]): readonly ListProblem[] =>
  [...problems].sort((one, other) => (one.line ?? 0) - (other.line ?? 0))

/** How many mistakes the JSON has. The others are only counted. */
const MAX_PROBLEMS = 1_000
/** How many mistakes the terminal shows. */
export const MAX_SHOWN = 20

/** The first mistakes, for JSON. */
export function problemFields(problems: readonly ListProblem[]) {
  const listed = sortedProblems(problems).slice(0, MAX_PROBLEMS)
  return { problems: listed, problemsOmitted: problems.length - listed.length }
}

/** The failure for the mistakes of a list. */
export function listFailure(name: string, problems: readonly ListProblem[]): CommandFailure {
  const sorted = sortedProblems(problems)
  const count = problems.length
  const message = `${inputName(name)} has ${formatCount(count, 'mistake')}: nothing was sent`
  const byRule = Object.fromEntries([...groupedByRule(sorted)].map(([rule, { length }]) => [rule, length]))
  return new CommandFailure(EXIT.usage, 'wrong_list', message, {
    result: { file: name, ...problemFields(sorted), problemsByRule: byRule },
    lines: problemLines(sorted, MAX_SHOWN),
  })
}

/** Formats the mistakes by rule: the number of each rule, and the first mistakes of all rules. */
export function problemLines(sorted: readonly ListProblem[], maxShown = sorted.length): string[] {
  const groups = [...groupedByRule(sorted)]
  const firsts = new Set(groups.map(([, [first]]) => first))
  // Show the first mistake of each rule, then the others by line.
  const shown = new Set([...new Set([...firsts, ...sorted])].slice(0, maxShown))
  return groups.flatMap(([rule, problems]) => {
    const listed = problems.filter((problem) => shown.has(problem))
    const others = problems.length - listed.length
    return [
      `${RULES[rule]}: ${formatCount(problems.length, 'mistake')}`,
      ...listed.map((problem) => `  ${problemText(problem)}`),
      ...(others > 0 ? [`  … and ${formatNumber(others)} more`] : []),
    ]
  })
}

const groupedByRule = (problems: readonly ListProblem[]) => Map.groupBy(problems, ({ rule }) => rule)

const problemText = ({ line, column, message }: ListProblem): string =>
  line === undefined ? message : `line ${line}${column === undefined ? '' : `, column ${column}`}: ${message}`

export interface Totals extends Sum {
  /** The number of different wallets. */
  readonly wallets: number
}

/** Returns the SHA-256 of all rows. The format of the file makes no difference. */
export function sha256Of({ rows }: AwardList): string {
  const hash = createHash('sha256')
  for (const { pid, address, id, xp } of rows)
    hash.update(`${JSON.stringify([pid, comparableAddress(address), id, xp])}\n`)
  return hash.digest('hex')
}

export function totalsOf(rows: Iterable<AwardRow>): Totals {
  const wallets = new Set<string>()
  let sum = NO_AWARDS
  for (const row of rows) {
    wallets.add(comparableAddress(row.address))
    sum = addAward(sum, row)
  }
  return { ...sum, wallets: wallets.size }
}

interface ReadList {
  readonly columns: Columns
  readonly records: readonly ListRecord[]
}

interface Text {
  readonly row: ListRow
  /** The id of the row, or the reason from which it is derived. */
  readonly text: string
}

function textsOf({ columns: { places }, records }: ReadList, isWanted: (text: Text) => boolean): Text[] {
  const place = places.id ?? places.reason ?? 0
  const texts: Text[] = []
  for (const { row, cells } of records) {
    const text = row && { row, text: (cells[place] ?? '').trim() }
    if (text !== undefined && isWanted(text)) texts.push(text)
  }
  return texts
}

/** Returns the rows whose text may look like another one. */
function suspectsOf(list: ReadList): Text[] {
  const hasIds = list.columns.places.id !== undefined
  return textsOf(list, ({ text }) => (hasIds ? text !== text.normalize('NFC') : HIDDEN.test(text)))
}

/**
 * Finds rows with the same wallet and campaign as another row, a text that looks the same, and a different id. Reasons may
 * differ in hidden characters, and ids in their Unicode form.
 */
export function lookAlikesInList(list: ReadList): ListProblem[] {
  const suspects = suspectsOf(list)
  const hasIds = list.columns.places.id !== undefined
  const keyOf = ({ row: { address, pid }, text }: Text): string =>
    JSON.stringify([comparableAddress(address), pid, hasIds ? text.normalize('NFC') : visibleText(text)])
  const keys = new Set(suspects.map(keyOf))
  if (keys.size === 0) return []
  const textsAlike = textsOf(list, (text) => keys.has(keyOf(text)))
  const alike = Map.groupBy(textsAlike, keyOf)
  return suspects.flatMap((suspect) => {
    const others = (alike.get(keyOf(suspect)) ?? []).filter(({ row }) => row.id !== suspect.row.id)
    const lines = others.map(({ row }) => row.line)
    const isAlike = lines.length > 0
    return isAlike ? [{ ...lookAlike(suspect, hasIds ? 'id' : 'reason', `line ${lines[0]}`), alike: lines }] : []
  })
}

/**
 * Finds rows whose reasons look like that of an award in the ledger. A ledger has no reasons, but it may have the id that a
 * row would have without the hidden characters of its reason. A row whose own id is in the ledger was sent before, and is not reported.
 */
export function lookAlikesInLedger(list: ReadList, ids: { has(id: string): boolean }): ListProblem[] {
  if (list.columns.places.id !== undefined) return []
  const isAlike = ({ row: { address, pid, id: own }, text }: Text): boolean =>
    !ids.has(own) &&
    [visibleText(text), withoutHidden(text)].some((reason) => ids.has(rewardId({ pid, address, reason })))
  return suspectsOf(list)
    .filter(isAlike)
    .map((text) => lookAlike(text, 'reason', 'an award in the ledger'))
}

function lookAlike({ row: { line }, text }: Text, column: 'id' | 'reason', other: string): ListProblem {
  const hidden = hiddenCharacter(text)
  const difference = hidden ?? 'another Unicode form'
  const message = `${JSON.stringify(text)} looks like the ${column} of ${other}, but has ${difference}`
  return { rule: 'text', line, column, message }
}
