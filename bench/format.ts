import { type Measure, spread } from './harness.ts'

/** Formats a value for a table. */
export function formatValue(measure: Measure, value: number): string {
  if (measure === 'bytes') return signed(Math.round(value))
  if (measure === 'rate') return `${Number(value.toPrecision(2))}`
  return measure === 'ratio' ? value.toFixed(2) : `${Number(value.toPrecision(3))}`
}

const signed = (value: number): string => (value < 0 ? `−${-value}` : value > 0 ? `+${value}` : '0')

/** Formats the median of samples, with the quartiles in brackets. */
export function formatSpread(measure: Measure, samples: readonly number[]): string {
  const { q1, median, q3 } = spread(samples)
  return `${formatValue(measure, median)} (${formatValue(measure, q1)} to ${formatValue(measure, q3)})`
}

/** Formats a time with a suitable unit. */
export function formatTime(microseconds: number): string {
  const [value, unit] =
    microseconds < 1
      ? [microseconds * 1000, 'ns']
      : microseconds < 1000
        ? [microseconds, 'µs']
        : [microseconds / 1000, 'ms']
  return `${Number(value.toPrecision(2))} ${unit}`
}
