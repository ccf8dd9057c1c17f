import { dictionary, nested, type OptionRule, optional, withCopy } from '../errors/option-checks.ts'
import { isWellFormed } from '../shared/text.ts'
import { type AnyEndpoint, endpoints, type OpenQueryOperation, type RequestOf } from './index.ts'

/** Names of query parameters that the API description does not show: `{ getCampaignInfo: { pid: 'id' } }`. */
export type QueryNames = {
  readonly [Name in OpenQueryOperation]?: { readonly [Argument in keyof RequestOf<Name>]?: string } | undefined
}

const catalogue: readonly [operation: string, endpoint: AnyEndpoint][] = Object.entries(endpoints)

export const mustBeQueryNames: OptionRule = nested(
  Object.fromEntries(
    catalogue.flatMap(([operation, { assumedQueryNames }]) =>
      assumedQueryNames === undefined ? [] : [[operation, optional(namesOf(assumedQueryNames))]],
    ),
  ),
)

function namesOf(renamable: readonly string[]): OptionRule {
  const findProblems = dictionary((name, argument) => {
    if (!renamable.includes(argument)) return `is not an argument of the operation; use ${renamable.join(', ')}`
    // `undefined` is refused, because it probably comes from a missing setting.
    const isUsable = typeof name === 'string' && name !== '' && isWellFormed(name)
    return isUsable ? undefined : 'must be a non-empty string without a lone surrogate'
  })
  return withCopy((value) => {
    const problems = findProblems(value)
    if (problems !== undefined && problems.length > 0) return problems
    const names = value as Readonly<Record<string, string>>
    const sent = new Set(renamable.map((argument) => names[argument] ?? argument))
    return sent.size < renamable.length ? 'gives two arguments the same name' : undefined
  }, findProblems.copy)
}

/** Used to detect a path such as `//host` or `../x`, whose URL would not be below the base URL. */
const BASE = 'https://base.invalid/v/'

export const mustBeRegistrationPath: OptionRule = (value) => {
  const path = typeof value === 'string' ? readRegistrationPath(value) : ''
  if (path === '' || /[?#\\]/.test(path) || !URL.canParse(path, BASE) || new URL(path, BASE).href !== BASE + path) {
    return 'must be a path below the base URL such as "webhooks", without query or fragment'
  }
  return catalogue.some(([, other]) => other.method === 'POST' && other.path === path)
    ? 'must not be the path of another operation'
    : undefined
}

/** Removes the leading slash of a checked path. */
export const readRegistrationPath = (path: string): string => path.replace(/^\//, '')
