import type { Agent } from 'node:https'
import { getProxyForUrl } from 'proxy-from-env'
import { isLoopback } from '../shared/hosts-and-ports.ts'
import { usageFailure } from './failure.ts'

const ending = new AbortController()

/** Ends connections that a proxy has not answered yet: they would keep the process running. */
export const closeProxyConnections = (): void => ending.abort()

/** Makes an agent for the proxy of HTTPS_PROXY, or `undefined` where none applies: http, loopback, NO_PROXY. */
export async function proxyAgentFor(url: string): Promise<Agent | undefined> {
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'https:' || isLoopback(hostname)) return undefined
  const proxy = getProxyForUrl(url)
  if (proxy === '') return undefined
  // The value is never shown: it may hold a password.
  if (!URL.canParse(proxy) || !/^https?:$/.test(new URL(proxy).protocol)) {
    throw usageFailure('HTTPS_PROXY is not the URL of a proxy', 'write it as http://HOST:PORT')
  }
  const { HttpsProxyAgent } = await import('https-proxy-agent')
  return new HttpsProxyAgent(proxy, { signal: ending.signal })
}
