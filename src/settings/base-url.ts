import { type OptionIssue, type OptionRule, withCopy } from '../errors/option-checks.ts'
import type { CampaignClientOptions } from '../options.ts'
import { isForbiddenPort, isLoopback } from '../shared/http.ts'

const baseUrlProblems: OptionRule = (value) => {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined) return 'must be an absolute URL such as https://host/api/v1'
  const issues: OptionIssue[] = []
  const addIssue = (message: string, advice?: string): number =>
    issues.push({ path: [], message, ...(advice && { advice }) })
  if (url.protocol !== 'https:' && url.protocol !== 'http:') addIssue('must be an https URL')
  if (url.username !== '' || url.password !== '') addIssue('must not contain credentials', 'pass accessToken')
  // `search` and `hash` do not show an empty query or fragment, but `href` does.
  if (url.href.includes('?')) addIssue('must not contain a query', 'pass query with a call')
  if (url.href.includes('#')) addIssue('must not contain a fragment')
  return issues
}

/** Checks `baseUrl` alone. Its copy is a string. */
export const mustBeBaseUrl = withCopy(baseUrlProblems, (value) => (value instanceof URL ? value.href : value))

/** Checks `baseUrl` with the other options. `baseUrl` must be a valid URL. */
export function baseUrlIssues({ baseUrl, allowInsecureHttp, fetch, transport }: CampaignClientOptions): OptionIssue[] {
  const { href, protocol, hostname, port } = new URL(baseUrl)
  const issues: OptionIssue[] = []
  const addIssue = (message: string, advice: string): number => issues.push({ path: ['baseUrl'], message, advice })
  if (protocol === 'http:' && allowInsecureHttp !== true && !isLoopback(hostname)) {
    addIssue('must be https, because http sends the token unencrypted', 'allowInsecureHttp: true accepts it')
  }
  if (fetch === undefined && transport === undefined && port !== '' && isForbiddenPort(Number(port))) {
    addIssue(`must not use port ${port}, which fetch refuses`, 'use another port or a transport')
  }
  const transportProblem = transport?.baseUrlProblem?.(href.endsWith('/') ? href : `${href}/`)
  if (transportProblem !== undefined) {
    issues.push({ path: ['baseUrl'], message: `is refused by the transport: ${transportProblem}` })
  }
  return issues
}
