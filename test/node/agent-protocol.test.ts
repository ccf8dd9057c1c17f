import http from 'node:http'
import https from 'node:https'
import { CampaignClient, ConfigurationError } from 'campaign-client'
import { type NodeAgent, nodeTransport } from 'campaign-client/node'
import { HttpsProxyAgent } from 'https-proxy-agent'
import { describe, expect, test } from 'vitest'

/** An agent that accepts requests and never opens a connection. */
const withoutConnection = (agent: http.Agent): http.Agent => Object.assign(agent, { addRequest: () => undefined })

/** Returns an agent whose `protocol` is a field of its prototype. */
function agentWithInheritedProtocol(): http.Agent {
  const agent = new http.Agent()
  Reflect.deleteProperty(agent, 'protocol')
  return Object.setPrototypeOf(agent, Object.assign(Object.create(http.Agent.prototype), { protocol: 'https:' }))
}

const agents: readonly (readonly [string, () => http.Agent])[] = [
  ['an http.Agent', () => new http.Agent()],
  ['an https.Agent', () => new https.Agent()],
  ['a proxy agent', () => new HttpsProxyAgent('http://127.0.0.1:1') as unknown as http.Agent],
  ['an agent without a protocol', () => Object.assign(new http.Agent(), { protocol: undefined })],
  ['an agent with an empty protocol', () => Object.assign(new http.Agent(), { protocol: '' })],
  ['an http.Agent whose protocol is https:', () => Object.assign(new http.Agent(), { protocol: 'https:' })],
  ['an http.Agent that inherits the protocol https:', agentWithInheritedProtocol],
  ['an http.Agent whose protocol is ws:', () => Object.assign(new http.Agent(), { protocol: 'ws:' })],
]

describe('a client rejects exactly the agents that Node rejects', () => {
  for (const [name, agent] of agents) {
    test.each([
      ['http:', http],
      ['https:', https],
    ] as const)(`${name}, for %s`, (protocol, node) => {
      const baseUrl = `${protocol}//127.0.0.1:1/api/v1`
      const given = withoutConnection(agent())
      let refused = false
      try {
        node
          .request({ host: '127.0.0.1', port: 1, agent: given })
          .on('error', () => undefined)
          .destroy()
      } catch (error) {
        expect(error).toMatchObject({ code: 'ERR_INVALID_PROTOCOL' })
        refused = true
      }
      const create = () =>
        new CampaignClient({ baseUrl, accessToken: 'token', transport: nodeTransport({ agent: given as NodeAgent }) })
      if (refused) expect(create).toThrow(ConfigurationError)
      else expect(create).not.toThrow()
    })
  }
})

describe('the error about an agent', () => {
  const clientOf = (baseUrl: string, agent: http.Agent): CampaignClient =>
    new CampaignClient({ baseUrl, accessToken: 'token', transport: nodeTransport({ agent }) })

  test.each([
    ['https://service.example/api/v1', new http.Agent(), 'is an http.Agent; baseUrl needs an https.Agent'],
    ['http://127.0.0.1:1/api/v1', new https.Agent(), 'is an https.Agent; baseUrl needs an http.Agent'],
  ])('names the class of the agent and the required class, for %s', (baseUrl, agent, message) => {
    expect(() => clientOf(baseUrl, agent)).toThrow(`the agent of nodeTransport ${message}`)
  })

  test('is thrown for the baseUrl of a derived client, too', () => {
    const client = clientOf('https://service.example/api/v1', new https.Agent())
    expect(() => client.with({ baseUrl: 'http://127.0.0.1:1/api/v1', accessToken: 'other' })).toThrow(
      'CampaignClient: baseUrl is refused by the transport: the agent of nodeTransport is an https.Agent; baseUrl needs an http.Agent',
    )
    expect(() => client.with({ baseUrl: 'https://other.example/api/v1', accessToken: 'other' })).not.toThrow()
  })

  test('is not thrown without the option agent', () => {
    const transport = nodeTransport()
    for (const baseUrl of ['http://127.0.0.1:1/api/v1', 'https://service.example/api/v1']) {
      expect(() => new CampaignClient({ baseUrl, accessToken: 'token', transport })).not.toThrow()
    }
  })
})
