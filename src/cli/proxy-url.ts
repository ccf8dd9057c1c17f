import { getProxyForUrl } from 'proxy-from-env'
import { isLoopback } from '../shared/http.ts'

/** A proxy, and the variable that names it. */
export interface Proxy {
  readonly url: string
  readonly variable: string
}

/** The variables of a proxy for https, in the order in which `getProxyForUrl` reads them. */
const VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY']

/** Returns the proxy of HTTPS_PROXY for a URL; `undefined` for http, loopback addresses and hosts in NO_PROXY. */
export function proxyFor(url: string): Proxy | undefined {
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'https:' || isLoopback(hostname) || getProxyForUrl(url) === '') return undefined
  const variable = VARIABLES.find((name) => process.env[name]) ?? 'HTTPS_PROXY'
  const value = process.env[variable] ?? ''
  // As for curl, HOST:PORT is an http proxy. `getProxyForUrl` would add https.
  return { url: value.includes('://') ? value : `http://${value}`, variable }
}
