/** A number for people: digits in groups from five on, which can't be taken for decimals. */
export const counted = (number: number): string => {
  const [whole = '', decimals] = String(number).split('.')
  const grouped = whole.length < 5 ? whole : whole.replace(/\B(?=(?:\d{3})+$)/g, ' ')
  return decimals === undefined ? grouped : `${grouped}.${decimals}`
}

/** A number of things. */
export const some = (number: number, thing: string): string => `${counted(number)} ${thing}${number === 1 ? '' : 's'}`

/** A time span for people. */
export function spanText(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`
}
