/** The columns of a list. Other columns are ignored. */
export const COLUMNS = ['address', 'xp', 'id', 'reason', 'pid'] as const
export type Column = (typeof COLUMNS)[number]

/** The headings of columns with other names than in {@link COLUMNS}: `--columns`. */
export type ColumnNames = Readonly<Partial<Record<Column, string>>>

/** The characters that make a spreadsheet read a cell as a formula. */
const FORMULA = '[=+\\-@＝＋－＠\\t\\r]'
const STARTS_AS_FORMULA = new RegExp(`^${FORMULA}`)
const ESCAPED_FORMULA = new RegExp(`^'${FORMULA}`)
const PLAIN_NUMBER = /^[+-]?\d+(?:[.,]\d+)?$/

/** What a spreadsheet may take for the end of a cell, if it splits the file by another separator, and for quotes. */
const END_OF_CELL = /([,;\t\r\n]"*)/

/**
 * Puts an apostrophe before a cell that a spreadsheet would read as a formula, and before each part of the cell that would
 * be a formula if the spreadsheet splits the file by another separator.
 *
 * @param isId - whether the cell is an id. Ids such as `+1` are escaped, too: a spreadsheet would read a number
 */
export function escapeFormula(cell: string, isId: boolean): string {
  const isFormula = (text: string): boolean => STARTS_AS_FORMULA.test(text) && (isId || !PLAIN_NUMBER.test(text))
  // The odd parts are the ends of the cells.
  const parts = cell.split(END_OF_CELL)
  return parts.map((part, at) => (at % 2 === 0 && isFormula(at === 0 ? cell : part) ? `'${part}` : part)).join('')
}

/** `#REF!`, `#NAME?`, `#N/A`, `Err:502`, and their translations. */
const ERROR_VALUE = /^(?:#[¡¿]?\p{Lu}[^\p{Ll}]*[!?]|#N\/A|#N\/D|#NV|Err:\d+)$/u

/** Excel exports the `####` that it shows for a number or a date in a narrow column. */
const TOO_NARROW = /^#+$/

/** Describes what a spreadsheet left in a cell instead of its value; `undefined` for any other cell. */
export function spreadsheetMistake(cell: string): string | undefined {
  if (cell.startsWith('=')) return 'is a formula: paste its value instead'
  if (TOO_NARROW.test(cell)) return 'is what a spreadsheet shows for a value in a narrow column: widen the column'
  if (ERROR_VALUE.test(cell.trim())) return 'is the error of a formula: correct the formula'
  if (!ESCAPED_FORMULA.test(cell)) return undefined
  return "starts with an apostrophe that keeps a spreadsheet from reading a formula, as in a report: remove it if it isn't part of the text"
}

const MANY_DIGITS = /^\d{16,}$/
const HAS_15_SIGNIFICANT_DIGITS = /^\d{15}0+$/
/** One or two such ids may really end in zeros. */
const MIN_ROUNDED = 3

/**
 * Returns the ids that a spreadsheet has rounded: it keeps 15 digits of a number.
 *
 * @param ids - all ids of a list
 */
export function roundedIds(ids: Iterable<string>): ReadonlySet<string> {
  const long = [...ids].filter((id) => MANY_DIGITS.test(id))
  const different = new Set(long)
  // Rounding makes different ids equal.
  const isRounded =
    long.every((id) => HAS_15_SIGNIFICANT_DIGITS.test(id)) &&
    (long.length >= MIN_ROUNDED || different.size < long.length)
  return isRounded ? different : new Set()
}

/**
 * Characters that nobody sees, and white space that looks like a space. Texts that look the same may differ in them, but
 * emoji and many languages need some of them.
 */
export const HIDDEN = /\p{Default_Ignorable_Code_Point}|(?! )\p{White_Space}/u
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu
const WHITE_SPACE = /\p{White_Space}/gu

export const codePoint = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** Describes the first hidden character of a text; `undefined` if the text has none. */
export function hiddenCharacter(text: string): string | undefined {
  const [character] = HIDDEN.exec(text) ?? []
  if (character === undefined) return undefined
  return `${/\p{White_Space}/u.test(character) ? 'white space other than a space' : 'the invisible character'}: ${codePoint(character)}`
}

/** Returns a text without its hidden characters. */
export const withoutHidden = (text: string): string => text.replace(IGNORABLE, '').replace(WHITE_SPACE, ' ').trim()

/** Returns a reason as a reader sees it. */
export const visibleText = (reason: string): string => withoutHidden(reason.normalize('NFKC'))
