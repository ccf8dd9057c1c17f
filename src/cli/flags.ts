import { InvalidArgumentError } from 'commander'

/** Digits, and a point where there is one: neither the scientific form nor separators, which people read differently. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/

/** More than a number keeps exactly. */
export const MOST_DIGITS = 15

/** Whether a number would not be kept as its digits say. */
export const hasTooManyDigits = (text: string): boolean => text.replace(/^[+-]?[0.]*|\./g, '').length > MOST_DIGITS

/** A number as people write it. @throws InvalidArgumentError, which names the flag */
export function decimal(text: string): number {
  if (!DECIMAL.test(text)) throw new InvalidArgumentError('Write it in digits, such as 250 or 12.5.')
  if (hasTooManyDigits(text)) throw new InvalidArgumentError(`It must not have more than ${MOST_DIGITS} digits.`)
  return Number(text)
}

/** A whole number from `min` to `max`. */
export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
  }

export const port = wholeNumber(0, 65_535)

/** An http or https URL without a password in it: URLs end up in logs. */
export function httpUrl(text: string): string {
  if (!URL.canParse(text)) throw new InvalidArgumentError('It must be a URL, http:// or https:// included.')
  const { protocol, username, password } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new InvalidArgumentError('It must be a URL, http:// or https:// included.')
  }
  if (username || password) throw new InvalidArgumentError('It must not hold a user name or a password.')
  return text
}

/** Collects a flag that may be given more than once. */
export const collect =
  <Value>(read: (text: string) => Value) =>
  (text: string, before: readonly Value[] | undefined): readonly Value[] => [...(before ?? []), read(text)]

export type Pair = readonly [name: string, value: string]

/** Collects `NAME=VALUE`, each name once: of two values one would be lost without a word. */
export function collectPairs(text: string, before: readonly Pair[] = []): readonly Pair[] {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('Write it as NAME=VALUE.')
  const name = text.slice(0, at)
  if (before.some(([other]) => other === name)) {
    throw new InvalidArgumentError(`${JSON.stringify(name)} is given twice.`)
  }
  return [...before, [name, text.slice(at + 1)]]
}

/** The name of a host, without scheme and port. */
export function hostName(text: string): string {
  if (URL.canParse(`http://${text}`) && new URL(`http://${text}`).host === text.toLowerCase()) {
    if (!/:\d+$/.test(text)) return text
  }
  throw new InvalidArgumentError('It must be a name or an address, without scheme and port.')
}
