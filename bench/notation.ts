import { type Measure, spread } from './harness.ts'

/** A value as tables show it. */
export function written(measure: Measure, value: number): string {
  if (measure === 'bytes') return signed(Math.round(value))
  if (measure === 'rate') return `${Number(value.toPrecision(2))}`
  return measure === 'ratio' ? value.toFixed(2) : `${Number(value.toPrecision(3))}`
}

const signed = (value: number): string => (value < 0 ? `−${-value}` : value > 0 ? `+${value}` : '0')

/** The median of samples, and their quartiles in brackets. */
export function writtenSpread(measure: Measure, samples: readonly number[]): string {
  const { q1, median, q3 } = spread(samples)
  return `${written(measure, median)} (${written(measure, q1)} to ${written(measure, q3)})`
}

/** A time in a readable unit. */
export function writtenTime(microseconds: number): string {
  const [value, unit] =
    microseconds < 1
      ? [microseconds * 1000, 'ns']
      : microseconds < 1000
        ? [microseconds, 'µs']
        : [microseconds / 1000, 'ms']
  return `${Number(value.toPrecision(2))} ${unit}`
}
