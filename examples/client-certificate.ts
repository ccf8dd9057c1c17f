/**
 * A client with a client certificate, a private certificate authority and an
 * HTTP proxy:
 *
 *   npm pkg set type=module
 *   npm install tsx@4 https-proxy-agent@9
 *   CAMPAIGN_BASE_URL=https://…/api/v1 CAMPAIGN_ACCESS_TOKEN=… \
 *     CAMPAIGN_PID=… CLIENT_CERT=client.pem CLIENT_KEY=client.key \
 *     PRIVATE_CA=ca.pem HTTPS_PROXY=http://proxy.example:3128 \
 *     npx tsx client-certificate.ts
 *
 * The settings for certificate, key, authority and proxy are optional.
 */
import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { CampaignClient } from 'campaign-client'
import { nodeTransport } from 'campaign-client/node'
import { HttpsProxyAgent } from 'https-proxy-agent'

const { CAMPAIGN_BASE_URL, CAMPAIGN_ACCESS_TOKEN, CAMPAIGN_PID, HTTPS_PROXY } =
  process.env
if (!CAMPAIGN_BASE_URL || !CAMPAIGN_ACCESS_TOKEN || !CAMPAIGN_PID) {
  console.error(
    'Set CAMPAIGN_BASE_URL, CAMPAIGN_ACCESS_TOKEN and CAMPAIGN_PID.',
  )
  process.exit(2)
}

const fileOf = (setting: string): Buffer | undefined => {
  const path = process.env[setting]
  return path ? readFileSync(path) : undefined
}
const tls = {
  cert: fileOf('CLIENT_CERT'),
  key: fileOf('CLIENT_KEY'),
  ca: fileOf('PRIVATE_CA'),
}

/**
 * A tunnel through the proxy. The proxy sees the host name, but neither the
 * token nor any data.
 */
class Tunnel extends HttpsProxyAgent<string> {
  // The constructor's options apply to the proxy, these to the service.
  override connect(
    ...[request, options]: Parameters<HttpsProxyAgent<string>['connect']>
  ) {
    return super.connect(request, { ...options, ...tls })
  }
}

const agent = HTTPS_PROXY
  ? new Tunnel(HTTPS_PROXY, { keepAlive: true })
  : new Agent({ ...tls, keepAlive: true })

const client = new CampaignClient({
  baseUrl: CAMPAIGN_BASE_URL,
  accessToken: CAMPAIGN_ACCESS_TOKEN,
  transport: nodeTransport({ agent }),
})

const { name, total_points } = await client.getCampaignPoints({
  pid: CAMPAIGN_PID,
})
console.log(`${name} has ${total_points} points`)
// Closes the idle connections, so that the process can end.
agent.destroy()
