import { type OptionRule, oneOf, requireOptions } from '../shared/options.ts'

/**
 * Holds an option object whose `kind` says what else there is against the rules of its kind.
 *
 * @throws TypeError when the kind or another option is unknown or wrong, saying which
 * @throws RangeError when all that is wrong are numbers out of their range
 */
export function requireOptionsOfKind<Kind extends string>(
  where: string,
  options: { readonly kind: Kind },
  rules: { readonly [Name in Kind]: Readonly<Record<string, OptionRule>> },
): void {
  const isKind = oneOf(...Object.keys(rules))
  const kind = options?.kind
  const problem = isKind(kind)
  if (problem !== undefined) throw new TypeError(`${where}: kind ${problem}`)
  requireOptions(`${where} of kind ${kind}`, options, { kind: isKind, ...rules[kind] })
}
