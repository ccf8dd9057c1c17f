import http, { type Agent, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import { onAbort } from '../http/abort-listeners.ts'
import { property } from '../http/property.ts'
import { isRedirect, TransportError, type TransportRequest, type TransportResponse } from '../transport.ts'
import { wrongAgent } from './agent-protocol.ts'
import { ACCEPTED_ENCODINGS, readBody } from './body.ts'
import { Departure, isFresh, markUsed } from './departure.ts'
import type { Origin } from './origin.ts'

/** The place of a request among those that need a connection. */
export interface Route {
  readonly origin: Origin
  readonly agent: Agent
  /** What ends each request that has not ended yet. */
  readonly underWay: Set<(why: string) => void>
}

/** Sends one request on one socket and reads its answer. Rejects as the port says. */
export function exchange(request: TransportRequest, route: Route, signal: AbortSignal): Promise<TransportResponse> {
  return new Promise((resolve, reject) => {
    const { origin, underWay } = route
    let outgoing: http.ClientRequest
    try {
      outgoing = open(request, route)
    } catch (cause) {
      // An agent of the other protocol, or one that throws: nothing is written before the request is ended.
      reject(new TransportError(agentProblem(cause, origin), { kind: 'network', sent: false, ...codeOf(cause), cause }))
      return
    }
    const departure = new Departure()
    let settled = false

    /** Runs `outcome` unless there has been one. Whatever the connection reports afterwards is of no interest. */
    const settle = (outcome: () => void): void => {
      if (settled) return
      settled = true
      underWay.delete(fail)
      stopListening()
      outcome()
    }
    const fail = (message: string, cause?: unknown): void =>
      settle(() => {
        outgoing.destroy()
        reject(new TransportError(message, { kind: 'network', sent: departure.possible, ...codeOf(cause), cause }))
      })

    const abort = (): void =>
      settle(() => {
        outgoing.destroy()
        reject(signal.reason)
      })

    const stopListening = onAbort(signal, abort)
    underWay.add(fail)
    // Once there is an answer, that is what tells how far it got.
    let answered = false
    outgoing.on('error', (error) => answered || fail('', error))
    outgoing.on('close', () => answered || fail('the connection was closed without an answer'))
    outgoing.on('socket', (socket) => {
      if (!request.idempotent && !isFresh(outgoing, socket)) {
        // Before anything is written. The idle socket goes with it, so that this ends when none is left.
        settle(() => {
          outgoing.destroy()
          resolve(exchange(request, route, signal))
        })
        return
      }
      departure.watch(socket, origin.encrypted)
    })
    outgoing.on('upgrade', (answer: IncomingMessage, socket: Socket) => {
      socket.destroy()
      settle(() => resolve(withoutBody(answer)))
    })
    outgoing.on('response', (answer) => {
      answered = true
      const { statusCode: status = 0, socket } = answer
      if (departure.refusedByProxy) return fail(`the proxy refused the connection with HTTP ${status}`)
      if (isRedirect(status)) {
        return settle(() => {
          outgoing.destroy()
          resolve(withoutBody(answer))
        })
      }
      readBody(answer, request.maxResponseBytes, (body) => {
        if (body !== 'too_large') {
          if (body.complete) markUsed(socket)
          // What is left of a body that can't be decoded would hold the connection for ever.
          else outgoing.destroy()
          return settle(() => resolve({ status, header: headerOf(answer), ...body }))
        }
        settle(() => {
          outgoing.destroy()
          // The status of an error answer says enough, however much of its body there is.
          if (status >= 400) return resolve({ ...withoutBody(answer), complete: false })
          const message = `the answer is larger than ${request.maxResponseBytes} bytes`
          reject(new TransportError(message, { kind: 'too_large', sent: true, status }))
        })
      })
    })
    if (signal.aborted) {
      // Aborted by a callback of the agent, such as its name lookup, which ran above.
      abort()
      return
    }
    try {
      outgoing.end(request.body)
    } catch (error) {
      fail('', error)
    }
  })
}

/** Asked of the modules at each call: mocks and tracers put functions of their own in their place. */
function open({ method, url, headers, body }: TransportRequest, { origin, agent }: Route): http.ClientRequest {
  const own = { 'accept-encoding': ACCEPTED_ENCODINGS, ...headers }
  return (origin.encrypted ? https : http).request({
    method,
    agent,
    host: origin.host,
    port: origin.port,
    path: url.slice(origin.length) || '/',
    headers: body === undefined ? own : { ...own, 'content-length': Buffer.byteLength(body) },
  })
}

function agentProblem(cause: unknown, { encrypted }: Origin): string {
  if (codeOf(cause).systemCode !== 'ERR_INVALID_PROTOCOL') return 'the agent of nodeTransport threw an error'
  return wrongAgent(encrypted)
}

const withoutBody = (answer: IncomingMessage): TransportResponse => ({
  status: answer.statusCode ?? 0,
  header: headerOf(answer),
  text: '',
  complete: true,
})

const headerOf =
  ({ headers }: IncomingMessage): TransportResponse['header'] =>
  (name) => {
    const value = headers[name.toLowerCase()]
    return value === undefined ? null : String(value)
  }

function codeOf(cause: unknown): { systemCode?: string } {
  // An agent may throw anything, a Proxy that throws in its turn as well.
  const code = typeof cause === 'object' && cause !== null ? property(cause, 'code') : undefined
  return typeof code === 'string' ? { systemCode: code } : {}
}
