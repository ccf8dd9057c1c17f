import { Agent, createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import type { SenderOptions, Transport } from 'campaign-client'
import { nodeTransport } from 'campaign-client/node'
import { afterAll, beforeAll } from 'vitest'
import { closedAddress } from './loopback-server.ts'
import { trackExchange } from './real-connections.ts'
import { type SentRequest, type Step, scriptedFetch } from './scripted-fetch.ts'

/** The transport option of a client, and the requests that it sent. */
export interface Scripted {
  readonly via: SenderOptions
  /** The requests, in order. */
  readonly sent: readonly SentRequest[]
}

/** A transport whose n-th request gets the n-th step. Further requests get the last one. */
export interface ScriptedTransport {
  readonly name: string
  script(...steps: readonly [Step, ...Step[]]): Scripted
}

/** Both transports of the package, for `describe.each`. */
export const scriptedTransports = (): readonly ScriptedTransport[] => [scriptedFetchTransport, scriptedNodeTransport()]

const scriptedFetchTransport: ScriptedTransport = {
  name: 'fetch',
  script(...steps) {
    const { fetch, sent } = scriptedFetch(...steps)
    return { via: { fetch }, sent }
  },
}

const unknownHost: LookupFunction = (host, _, callback) =>
  callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' }), '')

/** The Node transport with a loopback server that responds with the steps. */
export function scriptedNodeTransport(): ScriptedTransport {
  const responders: ((response: ServerResponse) => void)[] = []
  const server = createServer((request, response) => {
    response.sendDate = false
    request.resume().on('end', () => responders[Number(request.headers['x-request-index'])]?.(response))
    request.on('error', () => undefined)
  })
  const transport = nodeTransport()
  const withoutDns = nodeTransport({ agent: new Agent({ lookup: unknownHost }) })
  let origin = ''
  let closedOrigin = ''
  beforeAll(async () => {
    closedOrigin = new URL(await closedAddress()).origin
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    transport.close()
    server.closeAllConnections()
    server.close()
  })

  return {
    name: 'the Node transport',
    script(...steps) {
      const sent: SentRequest[] = []
      const send: Transport['send'] = (request, cancellation) => {
        const { method, url, headers, body } = request
        const at = performance.now()
        const seen = { method, url, authorization: headers.authorization ?? '', body, signal: cancellation.signal, at }
        const step = steps[Math.min(sent.push(seen) - 1, steps.length - 1)] as Step
        const to = (address: string): typeof request => ({ ...request, url: url.replace(/^https:\/\/[^/]+/, address) })
        if (step.fault === 'refused') return tracked(transport.send(to(closedOrigin), cancellation))
        if (step.fault === 'unknown host') return tracked(withoutDns.send(to('http://service.example'), cancellation))
        let arrive: () => void
        const arrival = new Promise<void>((resolve) => {
          arrive = resolve
        })
        let arrivals = 0
        const count = responders.push((response) => {
          arrive()
          if (++arrivals > 1) throw new Error('the transport sent the request twice')
          void respond(response, step, seen)
        })
        const numbered = { ...to(origin), headers: { ...headers, 'x-request-index': String(count - 1) } }
        const exchange = transport.send(numbered, cancellation)
        // Do not wait for the response of a request that hangs.
        trackExchange(step.fault === 'silence' ? Promise.race([arrival, exchange]) : exchange)
        return exchange
      }
      return { via: { transport: { send } }, sent }
    },
  }
}

function tracked<T>(exchange: Promise<T>): Promise<T> {
  trackExchange(exchange)
  return exchange
}

/** Converts the result of a step to an HTTP response. */
async function respond(response: ServerResponse, step: Step, request: SentRequest): Promise<void> {
  if (step.fault === 'silence') return
  if (step.fault === 'reset') {
    response.socket?.resetAndDestroy()
    return
  }
  const result = await step(request)
  response.writeHead(result.status, Object.fromEntries(result.headers))
  response.end(Buffer.from(await result.arrayBuffer()))
}
