import { MAX_DIGITS } from '../../../shared/decimals.ts'
import { hasTooManyDigits } from '../../flags.ts'

/** The value of a cell, or the problem with it. */
export type CellResult<Value> = { readonly value: Value } | { readonly problem: string }

const MAX_SHOWN_CHARACTERS = 40

/** Quotes a cell for a message. Shortens it if it is long. */
export const shown = (cell: string): string =>
  JSON.stringify(cell.length > MAX_SHOWN_CHARACTERS ? `${cell.slice(0, MAX_SHOWN_CHARACTERS)}…` : cell)

const problem = (text: string): { problem: string } => ({ problem: text })

const SCIENTIFIC = /^[+-]?\d+(?:[.,]\d+)?e[+-]?\d+$/i
const WALLET = /^0x[0-9a-fA-F]{40}$/

export function readAddress(cell: string): CellResult<string> {
  if (WALLET.test(cell)) return { value: cell }
  if (cell === '') return problem('is empty')
  if (SCIENTIFIC.test(cell)) {
    return problem(`is ${shown(cell)}: a spreadsheet turned it into a number. Format the column as text`)
  }
  return problem(`is ${shown(cell)}: it must be 0x and 40 hex digits`)
}

/** Reads an amount of XP. Rejects ambiguous numbers, for example 1,000 and 1.000. */
export function readXp(cell: string): CellResult<number> {
  if (cell === '') return problem('is empty')
  if (/^\d+(?:\.\d+)?$/.test(cell)) {
    if (/^[1-9]\d{0,2}\.\d{3}$/.test(cell)) {
      return problem(`is ${shown(cell)}, which is ambiguous: write ${cell.replace('.', '')} or ${cell}0`)
    }
    if (hasTooManyDigits(cell)) return problem(`is ${shown(cell)}: it has more than ${MAX_DIGITS} digits`)
    return { value: Number(cell) }
  }
  if (SCIENTIFIC.test(cell)) return problem(`is ${shown(cell)}, in scientific notation: write digits, for example 250`)
  if (/^[-−]\s?[\d.,]+$/.test(cell)) return problem(`is ${shown(cell)}: it must not be negative`)
  if (/^\d{1,3}(?:[.,'’ \u00a0\u2009\u202f]\d{3})+(?:[.,]\d+)?$/.test(cell)) {
    return problem(`is ${shown(cell)}, with thousands separators: write digits, for example 1250`)
  }
  if (/^\d+,\d+$/.test(cell)) return problem(`is ${shown(cell)}: write it with a point, ${cell.replace(',', '.')}`)
  return problem(`is ${shown(cell)}: write digits, for example 250 or 12.5`)
}

/** Reads an id, a reason or a campaign. */
export function readText(cell: string): CellResult<string> {
  // The parser keeps white space in quotes. `rewardId` removes it, which would leave an empty reason.
  if (cell.trim() === '') return problem('is empty')
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(cell))
    return problem(`is ${shown(cell)}: it contains a line break or a control character`)
  return { value: cell }
}

export function readId(cell: string): CellResult<string> {
  if (/^\d[.,]\d+e\+\d+$/i.test(cell)) {
    return problem(`is ${shown(cell)}: a spreadsheet turned it into a number. Format the column as text`)
  }
  return readText(cell)
}
