import http, { type Agent, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { Duplex } from 'node:stream'
import type { Cancellation } from '../http/cancellation.ts'
import { isRedirect, TransportError, type TransportRequest, type TransportResponse } from '../transport.ts'
import { wrongAgent } from './agent-protocol.ts'
import type { Origin } from './origins.ts'
import { ACCEPTED_ENCODINGS, readBody } from './read-body.ts'
import { isPlainText, SentTracker } from './sent-tracker.ts'
import { isFresh, markUsed } from './socket-age.ts'

export interface Route {
  readonly origin: Origin
  readonly agent: Agent
  /**
   * Each function ends one request in flight, with an error message. This is an array, because a busy `Set` keeps deleted
   * elements in memory until the next full garbage collection.
   */
  readonly inFlight: ((reason: string) => void)[]
}

/**
 * Sends one request and reads the response.
 *
 * @throws TransportError when there is no response, or it is too large
 * @throws the reason of the cancellation
 */
export function sendRequest(
  request: TransportRequest,
  route: Route,
  cancellation: Cancellation,
): Promise<TransportResponse> {
  return new Promise((resolve, reject) => {
    const { origin, inFlight } = route
    let outgoing: http.ClientRequest
    try {
      outgoing = open(request, route)
    } catch (cause) {
      // The agent threw, or has the wrong protocol. Nothing is written before `outgoing.end()`.
      reject(new TransportError(agentProblem(cause, origin), { kind: 'network', sent: false, ...codeOf(cause), cause }))
      return
    }
    const tracker = new SentTracker(outgoing)
    let settled = false

    /** Only the first call has an effect: the connection may emit further events. */
    const settle = (outcome: () => void): void => {
      if (settled) return
      settled = true
      inFlight.splice(inFlight.indexOf(fail), 1)
      stopListening()
      outcome()
    }
    const fail = (message: string, cause?: unknown): void =>
      settle(() => {
        outgoing.destroy()
        reject(new TransportError(message, { kind: 'network', sent: tracker.maybeSent, ...codeOf(cause), cause }))
      })
    const abort = (): void =>
      settle(() => {
        outgoing.destroy()
        reject(cancellation.reason)
      })

    inFlight.push(fail)
    const stopListening = cancellation.onCancel(abort)
    // After the headers of a response, readBody() handles the end of the connection.
    let responded = false
    outgoing.on('error', (error) => responded || fail('', error))
    // Emitted before the request is written.
    outgoing.on('socket', (socket: Duplex) => {
      if (!request.idempotent && !isFresh(outgoing, socket)) {
        // Try the next socket. The stale socket is destroyed with the request, so the number of tries is limited.
        settle(() => {
          outgoing.destroy()
          resolve(sendRequest(request, route, cancellation))
        })
      } else if (socket.destroyed) {
        fail('the agent of nodeTransport returned a closed connection')
      } else if (origin.encrypted && isPlainText(socket)) {
        fail('the agent of nodeTransport returned an unencrypted connection for https')
      } else tracker.watch(socket)
    })
    outgoing.on('upgrade', (response: IncomingMessage, socket: Duplex) => {
      socket.destroy()
      settle(() => resolve(withoutBody(response)))
    })
    outgoing.on('response', (response) => {
      responded = true
      const { statusCode: status = 0, socket } = response
      // Some proxy agents return the proxy's response to CONNECT as the response to the request.
      if (!tracker.maybeSent) return fail(`the proxy refused the connection with HTTP ${status}`)
      if (isRedirect(status)) {
        return settle(() => {
          outgoing.destroy()
          resolve(withoutBody(response))
        })
      }
      readBody(response, request.maxResponseBytes, (body) => {
        if (body !== 'too_large') {
          if (body.complete) markUsed(socket)
          // Close the connection: the rest of the body is not read.
          else outgoing.destroy()
          return settle(() => resolve({ status, header: headerOf(response), ...body }))
        }
        settle(() => {
          outgoing.destroy()
          // An error response needs only its status.
          if (status >= 400) return resolve({ ...withoutBody(response), complete: false })
          const message = `the answer is larger than ${request.maxResponseBytes} bytes`
          reject(new TransportError(message, { kind: 'too_large', sent: true, status }))
        })
      })
    })
    // The agent calls the partner's functions in open(). They may have cancelled the request.
    if (cancellation.reason !== undefined) return abort()
    try {
      // Pass bytes. Node sends a string body together with the headers, and would then encode the headers in UTF-8.
      outgoing.end(request.body && Buffer.from(request.body))
    } catch (error) {
      fail('', error)
    }
  })
}

/** Creates the request. Reads `http.request` at each call, because mocks and tracers replace it. */
function open({ method, url, headers }: TransportRequest, { origin, agent }: Route): http.ClientRequest {
  return (origin.encrypted ? https : http).request({
    method,
    agent,
    // Proxy agents need `protocol` to find their idle connections.
    protocol: origin.encrypted ? 'https:' : 'http:',
    host: origin.host,
    port: origin.port,
    path: url.slice(origin.length),
    headers: { 'accept-encoding': ACCEPTED_ENCODINGS, ...headers },
  })
}

function agentProblem(cause: unknown, { encrypted }: Origin): string {
  if (codeOf(cause).systemCode !== 'ERR_INVALID_PROTOCOL') return 'the agent of nodeTransport threw an error'
  return wrongAgent(encrypted)
}

const withoutBody = (response: IncomingMessage): TransportResponse => ({
  status: response.statusCode ?? 0,
  header: headerOf(response),
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
  const code = (cause as { code?: unknown } | null | undefined)?.code
  return typeof code === 'string' ? { systemCode: code } : {}
}
