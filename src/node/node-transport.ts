import http from 'node:http'
import https from 'node:https'
import { ConfigurationError } from '../errors.ts'
import {
  describeProblems,
  milliseconds,
  type OptionRules,
  optional,
  optionProblems,
  wholeNumber,
} from '../shared/options.ts'
import { typeName } from '../shared/types.ts'
import { TransportError } from '../transport.ts'
import { canServe, wrongAgent } from './agent-protocol.ts'
import { exchange, type Route } from './exchange.ts'
import type { NodeTransport, NodeTransportOptions } from './options.ts'
import { Origins } from './origin.ts'

const OPTIONS: OptionRules<NodeTransportOptions> = {
  agent: optional((value) =>
    isAgent(value) ? undefined : `must be an http.Agent or https.Agent of Node, got ${typeName(value)}`,
  ),
  maxSockets: optional(wholeNumber(1)),
  keepAliveMs: optional(milliseconds),
}

// By its method, not by its class: the agents of proxies may be those of another copy of a package.
const isAgent = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'addRequest') === 'function'

const CLOSED = 'the transport is closed'

/** See `nodeTransport` of the entry. */
export function createNodeTransport(options: NodeTransportOptions): NodeTransport {
  const problems = optionProblems(options, OPTIONS)
  if (problems.length > 0) throw new ConfigurationError(`nodeTransport: ${describeProblems(problems)}`)
  const { agent, maxSockets, keepAliveMs } = options
  if (agent !== undefined && (maxSockets !== undefined || keepAliveMs !== undefined)) {
    throw new ConfigurationError('nodeTransport: maxSockets and keepAliveMs are set on the agent where one is given')
  }

  const own = agent === undefined ? ownAgents(maxSockets, keepAliveMs ?? 4_000) : undefined
  const origins = new Origins()
  const underWay: Route['underWay'] = new Set()
  let closed = false
  return {
    async send(request, signal) {
      if (signal.aborted) throw signal.reason
      if (closed) throw new TransportError(CLOSED, { kind: 'network', sent: false })
      const origin = origins.of(request.url)
      const chosen = agent ?? (origin.encrypted ? own?.https : own?.http)
      return exchange(request, { origin, agent: chosen as http.Agent, underWay }, signal)
    },
    baseUrlProblem(baseUrl) {
      const { encrypted } = origins.of(baseUrl)
      return agent === undefined || canServe(agent, encrypted) ? undefined : wrongAgent(encrypted)
    },
    close() {
      closed = true
      for (const end of underWay) end(CLOSED)
      own?.http.destroy()
      own?.https.destroy()
    },
  }
}

/** Of each protocol one. Their `timeout` is what Node ends idle sockets by, and what it shortens to a server's hint. */
function ownAgents(maxSockets: number | undefined, timeout: number): { http: http.Agent; https: https.Agent } {
  const options = { keepAlive: true, timeout, ...(maxSockets && { maxSockets }) }
  return { http: new http.Agent(options), https: new https.Agent(options) }
}
