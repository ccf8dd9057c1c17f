import type { Agent } from 'node:https'
import { usageFailure } from './failure.ts'
import { proxyUrlFor } from './proxy-url.ts'

/** Creates an agent for HTTPS_PROXY, if the URL has a proxy. */
export async function proxyAgentFor(url: string): Promise<Agent | undefined> {
  const proxy = proxyUrlFor(url)
  if (proxy === undefined) return undefined
  // Do not show the value: it may contain a password.
  if (!URL.canParse(proxy) || !/^https?:$/.test(new URL(proxy).protocol)) {
    throw usageFailure('HTTPS_PROXY is not the URL of a proxy', 'write it as http://HOST:PORT')
  }
  const { HttpsProxyAgent } = await import('https-proxy-agent')
  return new HttpsProxyAgent(proxy, { keepAlive: true })
}
