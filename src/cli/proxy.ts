import type { Agent } from 'node:https'
import { usageFailure } from './failure.ts'
import { proxyFor } from './proxy-url.ts'

/** Creates an agent for HTTPS_PROXY, if the URL has a proxy. Its errors name the variable. */
export async function proxyAgentFor(url: string): Promise<Agent | undefined> {
  const proxy = proxyFor(url)
  if (proxy === undefined) return undefined
  const { variable } = proxy
  // Do not show the value: it may contain a password.
  if (!URL.canParse(proxy.url) || !/^https?:$/.test(new URL(proxy.url).protocol)) {
    throw usageFailure(`${variable} is not the URL of a proxy`, 'write it as http://HOST:PORT')
  }
  const { HttpsProxyAgent } = await import('https-proxy-agent')
  const agent = new HttpsProxyAgent(proxy.url, { keepAlive: true })
  const connect = agent.connect.bind(agent)
  agent.connect = async (request, options) => {
    let status: number | undefined
    request.once('proxyConnect', ({ statusCode }: { statusCode: number }) => {
      status = statusCode
    })
    const socket = await connect(request, options).catch((cause: NodeJS.ErrnoException) => {
      throw new Error(`the proxy of ${variable} failed (${cause.code ?? cause.message})`, { cause })
    })
    if (status === 200) return socket
    // Without this, the response of the proxy would be taken for the response to the request.
    socket.destroy()
    throw new Error(`the proxy of ${variable} refused the connection with HTTP ${status}`)
  }
  return agent
}
