import { copyOfOptions, type OptionRule, type OptionRules, oneOf, requireOptions } from '../shared/options.ts'

/**
 * An option object whose `kind` says what else there is, as it is now, held against the rules of its kind.
 *
 * @throws TypeError when the kind or another option is unknown or wrong, saying which
 * @throws RangeError when all that is wrong are numbers out of their range
 */
export function readOptionsOfKind<Options extends { readonly kind: string }>(
  where: string,
  options: Options,
  rules: { readonly [Kind in Options['kind']]: Readonly<Record<string, OptionRule>> },
): Options {
  const isKind = oneOf(...Object.keys(rules))
  const kind: Options['kind'] = options?.kind
  const problem = isKind(kind)
  if (problem !== undefined) throw new TypeError(`${where}: kind ${problem}`)
  const ofKind = { kind: isKind, ...rules[kind] }
  const own = { ...copyOfOptions(options, ofKind as never as OptionRules<Options>), kind }
  requireOptions(`${where} of kind ${kind}`, own, ofKind)
  return own
}
