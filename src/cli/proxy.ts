import type { Agent } from 'node:https'
import { getProxyForUrl } from 'proxy-from-env'
import { isLoopback } from '../shared/hosts-and-ports.ts'
import { usageFailure } from './failure.ts'

/** Creates an agent for HTTPS_PROXY. Returns `undefined` for http, loopback addresses and hosts in NO_PROXY. */
export async function proxyAgentFor(url: string): Promise<Agent | undefined> {
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'https:' || isLoopback(hostname)) return undefined
  const proxy = getProxyForUrl(url)
  if (proxy === '') return undefined
  // Do not show the value: it may contain a password.
  if (!URL.canParse(proxy) || !/^https?:$/.test(new URL(proxy).protocol)) {
    throw usageFailure('HTTPS_PROXY is not the URL of a proxy', 'write it as http://HOST:PORT')
  }
  const { HttpsProxyAgent } = await import('https-proxy-agent')
  return new HttpsProxyAgent(proxy, { keepAlive: true })
}
