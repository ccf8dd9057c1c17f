/** Formats a number with digits in groups of three, from five digits on. */
export const counted = (number: number): string => {
  const [whole = '', decimals] = String(number).split('.')
  const grouped = whole.length < 5 ? whole : whole.replace(/\B(?=(?:\d{3})+$)/g, ' ')
  return decimals === undefined ? grouped : `${grouped}.${decimals}`
}

/** Formats a number of things: `1 row`, `2 rows`. */
export const some = (number: number, thing: string): string => `${counted(number)} ${thing}${number === 1 ? '' : 's'}`

/** Formats a duration. */
export function spanText(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`
}

/** Joins the first names of a list. */
export const firstOf = (names: readonly string[]): string =>
  names.slice(0, MAX_NAMES).join(', ') +
  (names.length > MAX_NAMES ? ` and ${counted(names.length - MAX_NAMES)} more` : '')

const MAX_NAMES = 5

/** Formats a command line that can be pasted into a shell. */
export const commandLine = (words: readonly string[]): string => ['npx campaign-client', ...words.map(quoted)].join(' ')

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
