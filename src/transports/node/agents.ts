import http from 'node:http'
import https from 'node:https'

export interface Agents {
  readonly http: http.Agent
  readonly https: https.Agent
}

/** Creates the agents. Node closes idle sockets after `timeout`, or earlier if the server's `Keep-Alive` header says so. */
export function createAgents({ maxSockets, ...options }: http.AgentOptions): Agents {
  const all = { ...options, ...(maxSockets !== undefined && { maxSockets }) }
  return { http: new http.Agent(all), https: new https.Agent(all) }
}

/** Whether this is Deno (2.9.5), whose node:http sends a request again when a kept connection is lost. */
export const resendsWrites = (): boolean => 'Deno' in globalThis

/**
 * Whether node:http or node:https accepts an agent. They refuse an agent with another `protocol`.
 *
 * Getters are ignored: many proxy agents have a `protocol` getter that looks for node:https in the call stack.
 */
export function canServe(agent: object, encrypted: boolean): boolean {
  const protocol = fieldOf(agent, 'protocol')
  return !protocol || protocol === (encrypted ? 'https:' : 'http:')
}

/** The error message for an agent of the wrong protocol. */
export function wrongAgent(encrypted: boolean): string {
  const [has, wants] = encrypted ? ['http', 'https'] : ['https', 'http']
  return `the agent of nodeTransport is an ${has}.Agent; baseUrl needs an ${wants}.Agent`
}

/** Returns the value of a field, own or inherited, without calling a getter. */
function fieldOf(object: object, name: string): unknown {
  for (let owner: object | null = object; owner !== null; owner = Object.getPrototypeOf(owner)) {
    const field = Object.getOwnPropertyDescriptor(owner, name)
    if (field !== undefined) return field.value
  }
  return undefined
}
