import type { CampaignClientOptions } from '../options.ts'
import { isForbiddenPort, isLoopback } from '../shared/hosts-and-ports.ts'
import type { OptionIssue, OptionRule } from '../shared/option-checks.ts'

/** Checks `baseUrl` alone. */
export const mustBeBaseUrl: OptionRule = (value) => {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined) return 'must be an absolute URL such as https://host/api/v1'
  const issues: OptionIssue[] = []
  const addIssue = (message: string): number => issues.push({ path: [], message })
  if (url.protocol !== 'https:' && url.protocol !== 'http:') addIssue('must be an https URL')
  if (url.username !== '' || url.password !== '') addIssue('must not contain credentials; pass accessToken')
  // `search` and `hash` do not show an empty query or fragment, but `href` does.
  if (url.href.includes('?')) addIssue('must not contain a query; pass query with a call')
  if (url.href.includes('#')) addIssue('must not contain a fragment')
  return issues
}

/** Checks `baseUrl` with the other options. `baseUrl` must be a valid URL. */
export function baseUrlIssues({ baseUrl, allowInsecureHttp, fetch, transport }: CampaignClientOptions): OptionIssue[] {
  const { href, protocol, hostname, port } = new URL(baseUrl)
  const issues: OptionIssue[] = []
  const addIssue = (message: string): number => issues.push({ path: ['baseUrl'], message })
  if (protocol === 'http:' && allowInsecureHttp !== true && !isLoopback(hostname)) {
    addIssue('must be https, because http sends the token unencrypted; allowInsecureHttp: true accepts it')
  }
  if (fetch === undefined && transport === undefined && port !== '' && isForbiddenPort(Number(port))) {
    addIssue(`must not use port ${port}, which fetch refuses; use another port or a transport`)
  }
  const transportProblem = transport?.baseUrlProblem?.(href.endsWith('/') ? href : `${href}/`)
  if (transportProblem !== undefined) issues.push({ path: [], message: transportProblem })
  return issues
}
