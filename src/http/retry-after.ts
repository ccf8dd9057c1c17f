/** Maximum pause that calls wait for. After a longer `Retry-After`, calls fail for 30 s. */
export const MAX_PAUSE_MS = 30_000

const SECONDS = /^\d+$/
/** HTTP dates begin with the day of the week. `Date.parse` alone accepts almost any text. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d{2}:\d{2}:\d{2}/
/** The asctime format has no time zone. It means GMT, but `Date.parse` would assume local time. */
const WITHOUT_ZONE = /:\d{2}(?: \d{4})?$/

/** Parses `Retry-After`, in seconds or as a date. Returns milliseconds from now; `undefined` if it is malformed. */
export function parseRetryAfter(header: string | null): number | undefined {
  const value = header?.trim() ?? ''
  if (SECONDS.test(value)) return Math.min(Number(value) * 1000, Number.MAX_SAFE_INTEGER)
  const date = HTTP_DATE.test(value) ? Date.parse(WITHOUT_ZONE.test(value) ? `${value} GMT` : value) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now())
}
