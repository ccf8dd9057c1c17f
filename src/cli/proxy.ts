import type { Agent } from 'node:https'
import { getProxyForUrl } from 'proxy-from-env'
import { usageFailure } from './exit.ts'

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

const ending = new AbortController()

/** Ends connections that a proxy has not answered yet: agents do not know them, and they would hold the process. */
export const leaveProxies = (): void => ending.abort()

/** An agent for the proxy that HTTPS_PROXY and NO_PROXY name for an https URL; `undefined` where there is none. */
export async function proxyAgentFor(url: string): Promise<Agent | undefined> {
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'https:' || LOOPBACK.test(hostname)) return undefined
  const proxy = getProxyForUrl(url)
  if (proxy === '') return undefined
  // Never shown: it may hold a password.
  if (!URL.canParse(proxy) || !/^https?:$/.test(new URL(proxy).protocol)) {
    throw usageFailure('HTTPS_PROXY is not a URL of a proxy', 'write it as http://HOST:PORT')
  }
  const { HttpsProxyAgent } = await import('https-proxy-agent')
  return new HttpsProxyAgent(proxy, { signal: ending.signal })
}
