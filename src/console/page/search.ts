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

type Condition = (row: Searched) => boolean

/** A parsed search. A row must contain all words and meet all conditions. */
export interface Search {
  /** In lower case. */
  readonly words: string[]
  readonly conditions: readonly Condition[]
  /** Parts of the form `name:value` with an unknown name or value, as typed. `words` contains them as well. */
  readonly unknown: string[]
}

/** The beginnings of conditions, which the page offers. */
export const OFFERED = ['status:', 'user:', 'operation:', 'is:failed', 'is:retried'] as const

/** The names before a colon. Each function gets the text after the colon, in lower case, and returns its condition. */
const FIELDS: Readonly<Record<string, (value: string) => Condition | undefined>> = {
  // `5` and `5xx` stand for every status from 500 to 599.
  status: (value) =>
    /^(?:\d{1,3}x{0,2}|none)$/.test(value)
      ? (row) => row.statuses.some((status) => status.startsWith(value.replace(/x+$/, '')))
      : undefined,
  user: (value) => (row) => row.user.toLowerCase().includes(value),
  operation: (value) => (row) => row.operation.toLowerCase().includes(value),
  is: (value) =>
    value === 'failed' ? (row) => row.isFailed : value === 'retried' ? (row) => row.isRetried : undefined,
}

/** Splits a text into words and conditions. Quotation marks keep white space together: `user:"Ada L"`. */
export function parseSearch(text: string): Search {
  const words: string[] = []
  const unknown: string[] = []
  const conditions: Condition[] = []
  // Do not read `https:` of a URL as a field.
  for (const [part, name = '', quoted, plain = ''] of text.matchAll(/(?:([a-z]\w*):(?!\/\/))?(?:"([^"]*)"|(\S*))/gi)) {
    const field = name.toLowerCase()
    const value = (quoted ?? plain).toLowerCase()
    const isKnown = Object.hasOwn(FIELDS, field)
    const condition = isKnown && value !== '' ? FIELDS[field]?.(value) : undefined
    if (condition) conditions.push(condition)
    // The value of a known field is still missing.
    else if (!(isKnown && value === '')) {
      words.push(field === '' ? value : `${field}:${value}`)
      if (field !== '') unknown.push(part)
    }
  }
  return { words: words.filter(Boolean), conditions, unknown }
}

/** Replaces an unknown part with a condition. If the condition needs a value, it takes the value of the part. */
export const replaceUnknown = (text: string, unknown: string, offered: string): string =>
  text.replace(unknown, () => (offered.endsWith(':') ? offered + unknown.slice(unknown.indexOf(':') + 1) : offered))

/** Whether a row meets a search. `inBodies` has the keys of the rows whose bodies contain a word. */
export const isFound = (row: Searched, search: Search, inBodies: ReadonlyMap<string, ReadonlySet<string>>): boolean =>
  search.words.every((word) => row.text.includes(word) || inBodies.get(word)?.has(row.key)) &&
  search.conditions.every((condition) => condition(row))
