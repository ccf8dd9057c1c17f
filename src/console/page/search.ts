/** The parts of a row that a search looks at. */
export interface Searched {
  readonly key: string
  /** In lower case. */
  readonly text: string
  /** HTTP statuses; `none` stands for no response. */
  readonly statuses: readonly string[]
  readonly user: string
  readonly operation: string
  readonly isFailed: boolean
  readonly isRetried: boolean
}

/** A condition of a search. */
type Condition = (row: Searched) => boolean

/** A parsed search. A row must contain all words and meet all conditions. */
export interface Search {
  /** In lower case. */
  readonly words: string[]
  readonly conditions: readonly Condition[]
}

/** The names before a colon. Each function gets the text after the colon, in lower case, and returns its condition. */
const FIELDS: Readonly<Record<string, (value: string) => Condition | undefined>> = {
  // `5` and `5xx` stand for every status from 500 to 599.
  status: (value) => (row) => row.statuses.some((status) => status.startsWith(value.replace(/x+$/, ''))),
  user: (value) => (row) => row.user.toLowerCase().includes(value),
  operation: (value) => (row) => row.operation.toLowerCase().includes(value),
  is: (value) =>
    value === 'failed' ? (row) => row.isFailed : value === 'retried' ? (row) => row.isRetried : undefined,
}

/** Splits a text into words and conditions. Quotation marks keep white space together: `user:"Ada L"`. */
export function parseSearch(text: string): Search {
  const words: string[] = []
  const conditions: Condition[] = []
  for (const [, field = '', quoted, plain = ''] of text.toLowerCase().matchAll(/(?:(\w+):)?(?:"([^"]*)"|(\S+))/g)) {
    const value = quoted ?? plain
    const condition = Object.hasOwn(FIELDS, field) ? FIELDS[field]?.(value) : undefined
    if (condition) conditions.push(condition)
    // An unknown name is part of the word.
    else words.push(field === '' ? value : `${field}:${value}`)
  }
  return { words: words.filter(Boolean), conditions }
}

/** Whether a row meets a search. `inBodies` has the keys of the rows whose bodies contain a word. */
export const isFound = (row: Searched, search: Search, inBodies: ReadonlyMap<string, ReadonlySet<string>>): boolean =>
  search.words.every((word) => row.text.includes(word) || inBodies.get(word)?.has(row.key)) &&
  search.conditions.every((condition) => condition(row))
