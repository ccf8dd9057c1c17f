import { shellWord } from '../../shared/text.ts'

const numberFormat = new Intl.NumberFormat('en', { useGrouping: 'min2', maximumFractionDigits: 20 })

/** Formats a number. Groups the digits by three if there are more than four. */
export const formatNumber = (number: number): string => numberFormat.format(number).replaceAll(',', ' ')

/** Formats a number with its noun: `1 row`, `2 rows`. */
export const formatCount = (number: number, noun: string): string =>
  `${formatNumber(number)} ${noun}${number === 1 ? '' : 's'}`

/** Formats a number with its noun and its verb: `1 row was`, `2 rows were`. */
export const formatWere = (number: number, noun: string): string =>
  `${formatCount(number, noun)} ${number === 1 ? 'was' : 'were'}`

export const formatXp = (xp: number): string => `${formatNumber(xp)} XP`

export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`
}

/** Formats the first names of a list, and the number of the others. */
export const formatNames = (names: readonly string[]): string =>
  names.slice(0, MAX_NAMES).join(', ') +
  (names.length > MAX_NAMES ? ` and ${formatNumber(names.length - MAX_NAMES)} more` : '')

const MAX_NAMES = 5

/** Formats the command line with these arguments for a shell. */
export const formatCommandLine = (argv: readonly string[]): string =>
  ['npx campaign-client', ...argv.map(shellWord)].join(' ')
