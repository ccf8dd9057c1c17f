/**
 * Sends all requests through an HTTP proxy:
 *
 *   npx tsx examples/proxy-dispatcher.ts
 *
 * The client accepts any `fetch`. For https, use a `ProxyAgent` of the `undici`
 * package:
 *
 *   import { fetch, ProxyAgent } from 'undici'
 *   const dispatcher = new ProxyAgent('http://proxy.example:3128')
 *   new CampaignClient({
 *     …,
 *     fetch: (url, init) => fetch(url, { ...init, dispatcher }),
 *   })
 *
 * On Node 24 and later, environment variables are enough:
 * NODE_USE_ENV_PROXY=1 HTTPS_PROXY=http://proxy.example:3128.
 *
 * The `fetch` below shows the minimum for the client: send the request, obey the
 * signal, return a `Response`.
 */
import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CampaignClient } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'

/**
 * Returns a `fetch` that sends plain http through a proxy. It throws a TypeError
 * for https, which needs a tunnel.
 */
function fetchThrough(proxy: URL): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const { url, method, headers, signal } = request
    if (!url.startsWith('http:'))
      throw new TypeError(
        'only http is supported here; for https use a ProxyAgent',
      )
    const body = new Uint8Array(await request.arrayBuffer())
    return new Promise((resolve, reject) => {
      const { hostname, port } = proxy
      // A proxy expects the whole URL instead of a path.
      const outgoing = send({
        hostname,
        port,
        method,
        path: url,
        headers: Object.fromEntries(headers),
        signal,
      })
      outgoing.once('error', reject)
      outgoing.once('response', (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.once('error', reject)
        answer.once('end', () => {
          const text = Buffer.concat(chunks)
          const fields = Object.entries(answer.headersDistinct).flatMap(
            ([name, values = []]) =>
              values.map((value): [string, string] => [name, value]),
          )
          resolve(
            new Response(text, {
              status: answer.statusCode ?? 502,
              headers: fields,
            }),
          )
        })
      })
      outgoing.end(body)
    })
  }
}

// The local service behind a proxy, both on loopback.
const service = createCampaignService({ seed: 'proxy' })
const { url: baseUrl, close } = await service.listen()

const proxied: string[] = []
const proxy = createServer((incoming, outgoing) => {
  proxied.push(`${incoming.method} ${new URL(incoming.url ?? '').pathname}`)
  const onward = send(
    incoming.url ?? '',
    { method: incoming.method, headers: incoming.headers },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    },
  )
  onward.once('error', () => outgoing.destroy())
  incoming.pipe(onward)
})
await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))

const client = new CampaignClient({
  baseUrl,
  accessToken: 'any',
  fetch: fetchThrough(
    new URL(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`),
  ),
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

service.fail({ kind: 'reset' })
await client.getCampaignPoints({ pid: 'demo' })
console.log(`through the proxy: ${proxied.join(', ')}`)

proxy.closeAllConnections()
await new Promise((resolve) => proxy.close(resolve))
await close()
