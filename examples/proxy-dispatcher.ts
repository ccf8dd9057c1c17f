/**
 * Sends all requests through an HTTP proxy:
 *
 *   npm pkg set type=module
 *   npm install tsx@4 undici@7
 *   npx tsx proxy-dispatcher.ts
 *
 * The client accepts any `fetch`; this one is the `fetch` of the `undici`
 * package, with a `ProxyAgent`. On Node 24 and later, environment variables are
 * enough: NODE_USE_ENV_PROXY=1 HTTPS_PROXY=http://proxy.example:3128.
 */
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { CampaignClient } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'
import { fetch, ProxyAgent } from 'undici'

// The local service behind a proxy, both on loopback.
const service = createCampaignService({ idSeed: 'proxy' })
const { url: baseUrl, close } = await service.listen()

// The proxy opens a tunnel to the host of a CONNECT request.
let tunnels = 0
const proxy = createServer().on('connect', ({ url }, client) => {
  tunnels++
  const { hostname, port } = new URL(`http://${url}`)
  const target = connect(Number(port), hostname, () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    client.pipe(target).pipe(client)
  })
  target.on('error', () => client.destroy())
  client.on('error', () => target.destroy())
})
await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
const { port } = proxy.address() as AddressInfo

const dispatcher = new ProxyAgent(`http://127.0.0.1:${port}`)
const client = new CampaignClient({
  baseUrl,
  accessToken: 'any',
  fetch: (url, init) => fetch(url, { ...init, dispatcher }),
})

const { rank } = await client.getUserProgress({
  account: 'ada',
  platform: 'discord',
  pid: 'demo',
})
console.log(`ada has rank ${rank}`)
await client.updateUser({
  account: 'linus',
  platform: 'discord',
  pid: 'demo',
  team: 'kernel',
})

// The connection is lost once; the client sends the request again.
service.fail({ kind: 'reset' })
await client.getCampaignPoints({ pid: 'demo' })
console.log(`requests through the proxy: ${service.requests.length}`)
console.log(`through a tunnel: ${tunnels > 0}`)

await dispatcher.close()
await new Promise((resolve) => proxy.close(resolve))
await close()
