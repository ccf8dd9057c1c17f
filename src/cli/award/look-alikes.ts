import { rewardId } from 'campaign-client/bulk'
import { comparableAddress } from '../../shared/award.ts'
import { HIDDEN, hiddenCharacter, visibleText, withoutHidden } from './hidden-characters.ts'
import type { Columns } from './read-csv.ts'
import type { ListProblem, ListRecord, ListRow } from './read-row.ts'

interface ReadList {
  readonly columns: Columns
  readonly records: readonly ListRecord[]
}

export interface Text {
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
 * Finds rows with the wallet and the campaign of another row and a text that looks the same, but another id. Reasons may
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
 * Returns the rows of a list by the ids that they would have without the hidden characters of their reasons. A ledger has
 * no reasons, but it may have one of these ids.
 */
export function rowsByVisibleId(list: ReadList): ReadonlyMap<string, readonly Text[]> {
  if (list.columns.places.id !== undefined) return new Map()
  const rows = new Map<string, Text[]>()
  for (const suspect of suspectsOf(list)) {
    const { address, pid, id: own } = suspect.row
    const reasons = [visibleText(suspect.text), withoutHidden(suspect.text)]
    for (const id of new Set(reasons.map((reason) => rewardId({ pid, address, reason })))) {
      if (id !== own) rows.set(id, [...(rows.get(id) ?? []), suspect])
    }
  }
  return rows
}

/** The mistake of a row whose reason looks like that of an award in the ledger. */
export const lookAlikeInLedger = (text: Text): ListProblem => lookAlike(text, 'reason', 'an award in the ledger')

function lookAlike({ row: { line }, text }: Text, column: 'id' | 'reason', other: string): ListProblem {
  const hidden = hiddenCharacter(text)
  const difference = hidden ?? 'another Unicode form'
  const message = `${JSON.stringify(text)} looks like the ${column} of ${other}, but has ${difference}`
  return { rule: 'text', line, column, message }
}
