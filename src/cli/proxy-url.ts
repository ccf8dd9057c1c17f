import { getProxyForUrl } from 'proxy-from-env'
import { isLoopback } from '../shared/hosts-and-ports.ts'

/** Returns the proxy of HTTPS_PROXY for a URL; `undefined` for http, loopback addresses and hosts in NO_PROXY. */
export function proxyUrlFor(url: string): string | undefined {
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'https:' || isLoopback(hostname)) return undefined
  return getProxyForUrl(url) || undefined
}
