const SECONDS = /^\d+$/
/** The date forms of HTTP all begin with the day of the week; without this, `Date.parse` reads almost anything. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d{2}:\d{2}:\d{2}/
/** The oldest of the three forms names no zone. It means Greenwich, where `Date.parse` takes the zone of the machine. */
const WITHOUT_ZONE = /:\d{2}(?: \d{4})?$/

/** Reads `Retry-After`, seconds or date, into milliseconds from now. A malformed one counts as none. */
export function parseRetryAfter(header: string | null): number | undefined {
  const value = header?.trim()
  // Stryker disable next-line ConditionalExpression: undefined is neither form, but only the compiler has to be told
  if (value === undefined) return undefined
  if (SECONDS.test(value)) return Math.min(Number(value) * 1000, Number.MAX_SAFE_INTEGER)
  const date = HTTP_DATE.test(value) ? Date.parse(WITHOUT_ZONE.test(value) ? `${value} GMT` : value) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now())
}
