import http from 'node:http'
import https from 'node:https'
import { ConfigurationError } from '../errors.ts'
import { type CancellableSend, type Cancellation, cancellationOf } from '../http/cancellation.ts'
import {
  describeProblems,
  milliseconds,
  type OptionRules,
  optional,
  optionProblems,
  wholeNumber,
} from '../shared/option-checks.ts'
import { hasMethod, typeName } from '../shared/type-checks.ts'
import { TransportError, type TransportRequest, type TransportResponse } from '../transport.ts'
import { canServe, wrongAgent } from './agent-protocol.ts'
import type { NodeTransport, NodeTransportOptions } from './options.ts'
import { Origins } from './origins.ts'
import { type Route, sendRequest } from './send-request.ts'

const OPTIONS: OptionRules<NodeTransportOptions> = {
  // Not checked by `instanceof`: a proxy agent may extend another copy of http.Agent.
  agent: optional((value) =>
    hasMethod(value, 'addRequest') ? undefined : `must be an http.Agent or https.Agent of Node, got ${typeName(value)}`,
  ),
  maxSockets: optional(wholeNumber(1)),
  keepAliveMs: optional(milliseconds),
}

/** Many servers close idle connections after 5 s. */
const DEFAULT_KEEP_ALIVE_MS = 4_000

const CLOSED = 'the transport is closed'

/** Implements `nodeTransport()`. */
export function createNodeTransport(options: NodeTransportOptions): NodeTransport {
  const problems = optionProblems(options, OPTIONS)
  if (problems.length > 0) throw new ConfigurationError(`nodeTransport: ${describeProblems(problems)}`)
  const { agent, maxSockets, keepAliveMs } = options
  if (agent !== undefined && (maxSockets !== undefined || keepAliveMs !== undefined)) {
    throw new ConfigurationError(
      'nodeTransport: maxSockets and keepAliveMs cannot be combined with agent; set them on the agent',
    )
  }

  const agents = createAgents(maxSockets, keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS)
  const origins = new Origins()
  const inFlight: Route['inFlight'] = []
  let closed = false
  const cancellable = async (request: TransportRequest, cancellation: Cancellation): Promise<TransportResponse> => {
    if (cancellation.reason !== undefined) throw cancellation.reason
    if (closed) throw new TransportError(CLOSED, { kind: 'network', sent: false })
    const origin = origins.of(request.url)
    const chosen = agent ?? (origin.encrypted ? agents.https : agents.http)
    return sendRequest(request, { origin, agent: chosen as http.Agent, inFlight }, cancellation)
  }
  const send: CancellableSend = (request, signal) => cancellable(request, cancellationOf(signal))
  return {
    send: Object.assign(send, { cancellable }),
    baseUrlProblem(baseUrl) {
      const { encrypted } = origins.of(baseUrl)
      return agent === undefined || canServe(agent, encrypted) ? undefined : wrongAgent(encrypted)
    },
    close() {
      closed = true
      for (const end of [...inFlight]) end(CLOSED)
      for (const each of [agents.http, agents.https]) {
        // Node 24 opens a connection for queued requests that have already ended. Without this, it would stay open.
        each.keepSocketAlive = () => false
        each.destroy()
      }
    },
  }
}

/** Creates the agents. Node closes idle sockets after `timeout`, or earlier if the server's `Keep-Alive` header says so. */
function createAgents(maxSockets: number | undefined, timeout: number): { http: http.Agent; https: https.Agent } {
  const options = { keepAlive: true, timeout, ...(maxSockets && { maxSockets }) }
  return { http: new http.Agent(options), https: new https.Agent(options) }
}
