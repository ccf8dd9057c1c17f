import type { CampaignClientOptions } from '../options.ts'
import { isForbiddenPort, isLoopback } from '../shared/hosts-and-ports.ts'
import type { OptionProblem, OptionRule } from '../shared/option-checks.ts'

/** Checks `baseUrl` alone. */
export const mustBeBaseUrl: OptionRule = (value) => {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined) return 'must be an absolute URL such as https://host/api/v1'
  const problems: OptionProblem[] = []
  const addProblem = (message: string): number => problems.push({ path: [], message })
  if (url.protocol !== 'https:' && url.protocol !== 'http:') addProblem('must be an https URL')
  if (url.username !== '' || url.password !== '') addProblem('must not contain credentials; pass accessToken')
  // `search` and `hash` do not show an empty query or fragment, but `href` does.
  if (url.href.includes('?')) addProblem('must not contain a query; pass query with a call')
  if (url.href.includes('#')) addProblem('must not contain a fragment')
  return problems
}

/** Checks `baseUrl` with the other options. `baseUrl` must be a valid URL. */
export function baseUrlProblems({
  baseUrl,
  allowInsecureHttp,
  fetch,
  transport,
}: CampaignClientOptions): OptionProblem[] {
  const { href, protocol, hostname, port } = new URL(baseUrl)
  const problems: OptionProblem[] = []
  const addProblem = (message: string): number => problems.push({ path: ['baseUrl'], message })
  if (protocol === 'http:' && allowInsecureHttp !== true && !isLoopback(hostname)) {
    addProblem('must be https, because http sends the token unencrypted; allowInsecureHttp: true accepts it')
  }
  if (fetch === undefined && transport === undefined && port !== '' && isForbiddenPort(Number(port))) {
    addProblem(`must not use port ${port}, which fetch refuses; use another port or a transport`)
  }
  const transportProblem = transport?.baseUrlProblem?.(href.endsWith('/') ? href : `${href}/`)
  if (transportProblem !== undefined) problems.push({ path: [], message: transportProblem })
  return problems
}
