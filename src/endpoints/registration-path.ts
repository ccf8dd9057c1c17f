import type { OptionRule } from '../errors/option-checks.ts'
import { type AnyEndpoint, endpoints } from './index.ts'

const catalogue: readonly AnyEndpoint[] = Object.values(endpoints)

/** Used to detect a path such as `//host` or `../x`, whose URL would not be below the base URL. */
const BASE = 'https://base.invalid/v/'

export const mustBeRegistrationPath: OptionRule = (value) => {
  const path = typeof value === 'string' ? readRegistrationPath(value) : ''
  if (path === '' || /[?#\\]/.test(path) || !URL.canParse(path, BASE) || new URL(path, BASE).href !== BASE + path) {
    return 'must be a path below the base URL such as "webhooks", without query or fragment'
  }
  return catalogue.some((other) => other.method === 'POST' && other.path === path)
    ? 'must not be the path of another operation'
    : undefined
}

/** Removes the leading slash of a checked path. */
export const readRegistrationPath = (path: string): string => path.replace(/^\//, '')
