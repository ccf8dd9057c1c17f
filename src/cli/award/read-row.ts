import { rewardId } from '../../bulk/reward-id.ts'
import type { AwardRow } from '../../bulk/rows.ts'
import { MAX_DIGITS } from '../../shared/award.ts'
import { WALLET_ADDRESS } from '../../shared/wallet-address.ts'
import { hasTooManyDigits } from '../command.ts'
import { type Column, type ColumnNames, hiddenCharacter, spreadsheetMistake, visibleText } from './cells.ts'
import { type Columns, type CsvRecord, hasTooManyCells } from './read-csv.ts'

/** The kinds of mistakes in a list, with the headings under which they are listed. */
export const RULES = {
  file: 'not a list of awards',
  csv: 'not CSV',
  cells: 'more cells than columns',
  empty: 'an empty cell',
  address: 'not a wallet address',
  xp: 'not an amount of XP',
  max_xp: 'more XP than --max-xp',
  max_total_xp: 'more XP than --max-total-xp',
  text: 'not a valid text',
  spreadsheet: 'changed by a spreadsheet',
  rounded: 'rounded by a spreadsheet',
  pid: 'another campaign than --pid',
  allowed_campaigns: 'not in CAMPAIGN_ALLOWED_CAMPAIGNS',
  id: 'one id for different awards',
  ledger: 'another award in the ledger',
} as const

/** A mistake in a list. */
export interface ListProblem {
  readonly rule: keyof typeof RULES
  /** The line, from 1. Absent for a mistake in the whole list. */
  readonly line?: number
  /** Absent for a mistake in more than one cell. */
  readonly column?: Column
  readonly message: string
  /** The lines of the rows that look like this one. */
  readonly alike?: readonly number[]
}

/** A row without mistakes. */
export interface ListRow extends AwardRow {
  /** Its line in the file, from 1. */
  readonly line: number
}

/** A record of a list, and its row unless the record has a mistake. */
export interface ListRecord extends CsvRecord {
  readonly row: ListRow | undefined
  /** The id of the award, even if another cell has a mistake; `undefined` if it cannot be known. */
  readonly id: string | undefined
}

export interface RowRules {
  /** The headings that differ from the names of the columns: `--columns`. */
  readonly columns?: ColumnNames | undefined
  /** The campaign of all rows: `--pid`. */
  readonly pid: string | undefined
  /** The campaigns of CAMPAIGN_ALLOWED_CAMPAIGNS. */
  readonly allowed: readonly string[] | undefined
  /** The highest XP of a row: `--max-xp`. */
  readonly maxXp: number | undefined
}

/** Reads a row from a record, or lists the mistakes in the record. */
export function readRow(
  { cells, line }: CsvRecord,
  columns: Columns,
  { pid: onlyPid, allowed, maxXp }: RowRules,
): { row: ListRow | undefined; id: string | undefined; problems: readonly ListProblem[] } {
  const { places, headings } = columns
  if (hasTooManyCells(cells, columns)) {
    const message = `the row has ${cells.length} cells, but the first line has ${headings.length}: put quotes around a cell that contains the delimiter`
    return { row: undefined, id: undefined, problems: [{ rule: 'cells', line, message }] }
  }
  const problems: ListProblem[] = []
  const read = <Value>(column: Column, parse: (cell: string) => CellResult<Value>): Value | undefined => {
    const place = places[column]
    if (place === undefined) return undefined
    const cell = cells[place] ?? ''
    const spoilt = spreadsheetMistake(cell)
    const result = spoilt === undefined ? parse(cell) : mistake('spreadsheet', cell, spoilt)
    if ('value' in result) return result.value
    problems.push({ rule: result.rule, line, column, message: result.problem })
    return undefined
  }
  const address = read('address', readAddress)
  const xp = read('xp', (cell) => atMost(maxXp, readXp(cell)))
  const pid = read('pid', (cell) => readPid(cell, onlyPid, allowed)) ?? onlyPid
  const reason = places.id === undefined ? read('reason', readReason) : undefined
  const isDerivable = address !== undefined && pid !== undefined && reason !== undefined
  const id = isDerivable ? rewardId({ pid, address, reason }) : read('id', readId)
  const isRow = problems.length === 0 && address !== undefined && xp !== undefined && pid !== undefined
  return { row: isRow && id !== undefined ? { line, address, pid, id, xp } : undefined, id, problems }
}

function atMost(maxXp: number | undefined, xp: CellResult<number>): CellResult<number> {
  if (maxXp === undefined || !('value' in xp) || xp.value <= maxXp) return xp
  return problem('max_xp', `${xp.value} is more than --max-xp ${maxXp}`)
}

/** Reads a campaign. With `--pid`, the cell must be empty or contain the same campaign. */
function readPid(
  cell: string,
  onlyPid: string | undefined,
  allowed: readonly string[] | undefined,
): CellResult<string> {
  if (onlyPid !== undefined) {
    if (cell === '' || cell === onlyPid) return { value: onlyPid }
    return mistake('pid', cell, `is not ${shown(onlyPid)}, the campaign of --pid`)
  }
  if (cell === '' || allowed === undefined || allowed.includes(cell)) return readIdentifier(cell)
  return mistake('allowed_campaigns', cell, 'is not in CAMPAIGN_ALLOWED_CAMPAIGNS')
}

/** The value of a cell, or the mistake in it: a sentence about the cell. */
type CellResult<Value> = { readonly value: Value } | { readonly rule: ListProblem['rule']; readonly problem: string }

const problem = (rule: ListProblem['rule'], text: string) => ({ rule, problem: text })

/** Longer than a wallet address. */
const MAX_SHOWN_CHARACTERS = 60

/** Quotes a cell for a message. Shortens it if it is long. */
const shown = (cell: string): string =>
  JSON.stringify(cell.length > MAX_SHOWN_CHARACTERS ? `${cell.slice(0, MAX_SHOWN_CHARACTERS)}…` : cell)

const mistake = (rule: ListProblem['rule'], cell: string, text: string) => problem(rule, `${shown(cell)} ${text}`)

const EMPTY = problem('empty', 'the cell is empty')
const SCIENTIFIC = /^[+-]?\d+(?:[.,]\d+)?e[+-]?\d+$/i
const FORMAT_AS_TEXT = 'is a number made by a spreadsheet: format the column as text'

function readAddress(cell: string): CellResult<string> {
  if (WALLET_ADDRESS.test(cell)) return { value: cell }
  if (cell === '') return EMPTY
  if (SCIENTIFIC.test(cell)) return mistake('address', cell, FORMAT_AS_TEXT)
  return mistake('address', cell, `must be 0x and 40 hex digits; ${addressMistakes(cell).join(', ')}`)
}

const ADDRESS_CHARACTERS = 42

/** Describes the length of a wrong address, and its first wrong character with its position from 1. */
function addressMistakes(cell: string): readonly string[] {
  const characters = [...cell]
  const wrong = characters.findIndex((character, index) => {
    return index < 2 ? character !== '0x'[index] : !/^[0-9a-f]$/i.test(character)
  })
  return [
    ...(characters.length === ADDRESS_CHARACTERS ? [] : [`it has ${characters.length} characters, not 42`]),
    ...(wrong === -1 ? [] : [`character ${wrong + 1} is ${JSON.stringify(characters[wrong])}`]),
  ]
}

/** Reads an amount of XP. Rejects ambiguous numbers, for example 1,000 and 1.000. */
function readXp(cell: string): CellResult<number> {
  if (cell === '') return EMPTY
  if (/^\d+(?:\.\d+)?$/.test(cell)) {
    if (/^[1-9]\d{0,2}\.\d{3}$/.test(cell)) {
      return mistake('xp', cell, `is ambiguous: write ${cell.replace('.', '')} or ${cell}0`)
    }
    if (hasTooManyDigits(cell)) return mistake('xp', cell, `has more than ${MAX_DIGITS} digits`)
    return Number(cell) > 0 ? { value: Number(cell) } : mistake('xp', cell, 'must be above 0')
  }
  if (SCIENTIFIC.test(cell)) return mistake('xp', cell, 'is in scientific notation: write digits, for example 250')
  if (/^[-−]\s?[\d.,]+$/.test(cell)) return mistake('xp', cell, 'must be above 0')
  if (/^\d{1,3}(?:[.,'’ \u00a0\u2009\u202f]\d{3})+(?:[.,]\d+)?$/.test(cell)) {
    return mistake('xp', cell, 'has thousands separators: write digits, for example 1250')
  }
  if (/^\d+,\d+$/.test(cell)) return mistake('xp', cell, `has a comma: write ${cell.replace(',', '.')}`)
  return mistake('xp', cell, 'is not a plain number: write digits, for example 250 or 12.5')
}

/** Reads an id or a campaign. White space and characters that nobody sees would make another id of the same text. */
function readIdentifier(cell: string): CellResult<string> {
  // The parser keeps white space in quotes.
  if (cell.trim() === '') return EMPTY
  const hidden = hiddenCharacter(cell)
  if (hidden !== undefined) return mistake('text', cell, `contains ${hidden}`)
  return cell === cell.trim() ? { value: cell } : mistake('text', cell, 'starts or ends with a space')
}

const MADE_BY_SPREADSHEET = /^\d(?:[.,]\d+)?e\+\d+$/i

const readId = (cell: string): CellResult<string> =>
  MADE_BY_SPREADSHEET.test(cell) ? mistake('text', cell, FORMAT_AS_TEXT) : readIdentifier(cell)

/** Reads a reason, from which the id is derived. Hidden characters are a mistake only if another row looks the same. */
function readReason(cell: string): CellResult<string> {
  if (visibleText(cell) === '') return EMPTY
  return MADE_BY_SPREADSHEET.test(cell) ? mistake('text', cell, FORMAT_AS_TEXT) : { value: cell }
}
