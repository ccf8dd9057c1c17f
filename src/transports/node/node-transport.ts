import http from 'node:http'
import https from 'node:https'
import {
  configurationError,
  milliseconds,
  type OptionRules,
  optional,
  readOptions,
  refuseOptions,
  wholeNumber,
} from '../../errors/option-checks.ts'
import { hasMethod, typeName } from '../../shared/type-checks.ts'
import { type Transport, TransportError } from '../transport.ts'
import { Exchange, type Origin, type Route, STALE, wrongAgent } from './exchange.ts'

/** An `http.Agent` or `https.Agent` of Node, or a subclass. A structural type, so that Node's types are not needed. */
export interface NodeAgent {
  /** Maximum number of connections to one host. */
  readonly maxSockets: number
  /** The requests that wait for a connection. */
  readonly requests: object
  /** The connections in use. */
  readonly sockets: object
  /** Closes the connections. */
  destroy(): void
}

/** The options of `nodeTransport`. */
export interface NodeTransportOptions {
  /**
   * Your own agent: an `https.Agent` with a client certificate or a private CA, or a proxy agent. It cannot be combined with
   * `maxSockets` or `keepAliveMs`. `close()` does not close it. The constructor of a client throws `ConfigurationError` if
   * the protocols of the agent and `baseUrl` differ.
   *
   * @defaultValue an agent with keep-alive for each protocol
   */
  readonly agent?: NodeAgent | undefined
  /**
   * Maximum number of open connections to one host. 1 or more. Further requests wait in a queue.
   *
   * @defaultValue no limit
   */
  readonly maxSockets?: number | undefined
  /**
   * Maximum idle time of a connection in milliseconds. A server's `Keep-Alive: timeout` shortens it. Many servers close idle
   * connections after 5 s, and a request written at that moment is lost.
   *
   * @defaultValue 4000
   */
  readonly keepAliveMs?: number | undefined
}

/** The transport that `nodeTransport` returns. */
export interface NodeTransport extends Transport {
  /**
   * Closes all connections. Pending and later requests fail with `TransportError`. A second call does nothing. You need not
   * call this method: idle connections do not keep the process alive.
   */
  close(): void
}

const OPTIONS: OptionRules<NodeTransportOptions> = {
  // Not checked by `instanceof`: a proxy agent may extend another copy of http.Agent.
  agent: optional((value) =>
    hasMethod(value, 'addRequest') ? undefined : `must be an http.Agent or https.Agent of Node, got ${typeName(value)}`,
  ),
  maxSockets: optional(wholeNumber(1)),
  keepAliveMs: optional(milliseconds),
}

const SETTINGS_OF_OWN_AGENT = ['maxSockets', 'keepAliveMs'] as const

/** Many servers close idle connections after 5 s. */
const DEFAULT_KEEP_ALIVE_MS = 4_000

const CLOSED = 'the transport is closed'

interface Agents {
  readonly http: http.Agent
  readonly https: https.Agent
}

/** Implements `nodeTransport()`. Its functions are fields, so that a wrapper can copy or detach them. */
class NodeHttpTransport implements NodeTransport {
  readonly #agents: Agents
  /** For writes, if they need their own connections. */
  readonly #writeAgents: Agents
  readonly #ownAgent: NodeAgent | undefined
  readonly #origins = new Origins()
  /** An array: a busy `Set` keeps deleted elements in memory until the next full garbage collection. */
  readonly #inFlight: Exchange[] = []
  #isClosed = false

  constructor({ agent, maxSockets, keepAliveMs = DEFAULT_KEEP_ALIVE_MS }: NodeTransportOptions) {
    this.#ownAgent = agent
    this.#agents = createAgents({ keepAlive: true, timeout: keepAliveMs, maxSockets })
    this.#writeAgents = resendsWrites() ? createAgents({ keepAlive: false, maxSockets }) : this.#agents
  }

  readonly send: NodeTransport['send'] = async (request, { onCancel }) => {
    const origin = this.#origins.of(request.url)
    const agents = request.method === 'POST' ? this.#writeAgents : this.#agents
    const agent = this.#ownAgent ?? (origin.encrypted ? agents.https : agents.http)
    const route: Route = { origin, agent: agent as http.Agent, isOwnAgent: this.#ownAgent !== undefined }
    for (;;) {
      if (this.#isClosed) throw new TransportError(CLOSED, { kind: 'network', sent: false })
      const exchange = new Exchange(request, route)
      this.#inFlight.push(exchange)
      const stopListening = onCancel((reason) => exchange.abort(reason))
      try {
        const result = await exchange.run()
        if (result !== STALE) return result
      } finally {
        stopListening()
        this.#inFlight.splice(this.#inFlight.indexOf(exchange), 1)
      }
    }
  }

  readonly baseUrlProblem = (baseUrl: string): string | undefined => {
    const { encrypted } = this.#origins.of(baseUrl)
    const agent = this.#ownAgent
    return agent === undefined || canServe(agent, encrypted) ? undefined : wrongAgent(encrypted)
  }

  readonly close = (): void => {
    this.#isClosed = true
    for (const exchange of [...this.#inFlight]) exchange.fail(CLOSED)
    for (const agent of [this.#agents, this.#writeAgents].flatMap((agents) => [agents.http, agents.https])) {
      // Node 24 opens a connection for queued requests that have already ended. Without this, it would stay open.
      agent.keepSocketAlive = () => false
      agent.destroy()
    }
  }
}

/** Creates the transport. @throws ConfigurationError when an option is wrong */
export function createNodeTransport(options: NodeTransportOptions): NodeTransport {
  const own = readOptions('nodeTransport', options, OPTIONS)
  const { agent } = own
  const issues = SETTINGS_OF_OWN_AGENT.filter((name) => agent !== undefined && own[name] !== undefined).map((name) => ({
    path: [name],
    message: 'cannot be combined with agent',
    advice: 'set it on the agent',
  }))
  refuseOptions('nodeTransport', issues)
  if (agent !== undefined && resendsWrites() && Reflect.get(agent, 'keepAlive') !== false) {
    const message =
      'must have keepAlive: false on Deno, because Deno sends a write again when a kept connection is lost'
    throw configurationError('nodeTransport', [{ path: ['agent'], message }])
  }
  return new NodeHttpTransport(own)
}

/** Creates the agents. Node closes idle sockets after `timeout`, or earlier if the server's `Keep-Alive` header says so. */
function createAgents({ maxSockets, ...options }: http.AgentOptions): Agents {
  const all = { ...options, ...(maxSockets !== undefined && { maxSockets }) }
  return { http: new http.Agent(all), https: new https.Agent(all) }
}

/** Whether this is Deno (2.9.5), whose node:http sends a request again when a kept connection is lost. */
const resendsWrites = (): boolean => 'Deno' in globalThis

/**
 * Whether node:http or node:https accepts an agent. They refuse an agent with another `protocol`.
 *
 * Getters are ignored: many proxy agents have a `protocol` getter that looks for node:https in the call stack.
 */
function canServe(agent: object, encrypted: boolean): boolean {
  const protocol = fieldOf(agent, 'protocol')
  return !protocol || protocol === (encrypted ? 'https:' : 'http:')
}

/** Returns the value of a field, own or inherited, without calling a getter. */
function fieldOf(object: object, name: string): unknown {
  for (let owner: object | null = object; owner !== null; owner = Object.getPrototypeOf(owner)) {
    const field = Object.getOwnPropertyDescriptor(owner, name)
    if (field !== undefined) return field.value
  }
  return undefined
}

/** Caches the origins of URLs. Parsing a URL takes longer than all other work for a request. */
class Origins {
  /** By scheme, host and port. */
  readonly #known = new Map<string, Origin>()

  of(url: string): Origin {
    const end = url.indexOf('/', url.indexOf('://') + 3)
    const length = end < 0 ? url.length : end
    const prefix = url.slice(0, length)
    let origin = this.#known.get(prefix)
    if (origin === undefined) {
      const { hostname, port, protocol } = new URL(prefix)
      origin = {
        host: hostname.replace(/[[\]]/g, ''),
        port,
        encrypted: protocol === 'https:',
        length,
      }
      this.#known.set(prefix, origin)
    }
    return origin
  }
}
