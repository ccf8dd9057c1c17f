import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { Guard } from '../../src/console/server/guard.ts'
import { openConsole } from './open-console.ts'

test.each([
  ['GET', 'reset', 'application/json', undefined, 405, { error: 'Use POST.' }],
  ['POST', 'reset', 'text/plain;application/json', '{}', 415, { error: expect.stringContaining('Send JSON, with') }],
  ['POST', 'reset', undefined, new Uint8Array([123, 125]), 415, { error: expect.stringContaining('Send JSON, with') }],
  ['POST', 'reset', 'Application/JSON; charset=utf-8', '{}', 200, { data: null }],
  ['POST', 'nothing', 'application/json', '{}', 200, { error: 'There is no action "nothing".' }],
  ['POST', 'toString', 'application/json', '{}', 200, { error: 'There is no action "toString".' }],
  [
    'POST',
    'listUsers',
    'application/json',
    '{"pid":"demo","find":"","limit":0}',
    200,
    { error: expect.any(String), field: 'limit' },
  ],
])(
  '%s of the action %s with the content type %s and the body %s has the response %i',
  async (method, name, type, body, status, found) => {
    const { base, service } = await openConsole()
    service.fail({ on: '*', kind: 'status', status: 500 })
    const init = { method, headers: type === undefined ? {} : { 'content-type': type }, body: body ?? null }
    const response = await fetch(`${base}/console/do/${name}`, init)
    expect(response.status).toBe(status)
    expect(await response.json()).toEqual(found)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(service.pendingFaults()).toHaveLength('data' in found ? 0 : 1)
  },
)

test('a page allows GET and HEAD only, and the seed is downloaded as a file', async () => {
  const { base } = await openConsole()
  const refused = await fetch(`${base}/users`, { method: 'POST' })
  expect([refused.status, refused.headers.get('content-type')]).toEqual([405, 'text/plain; charset=utf-8'])
  expect(await refused.text()).toBe('Use GET.\n')
  expect((await fetch(`${base}/users`, { method: 'HEAD' })).status).toBe(200)
  const { headers } = await fetch(`${base}/console/seed.json`)
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(headers.get('content-disposition')).toBe('attachment; filename="campaign-seed.json"')
})

/** The parts of a request that the guard checks. `second` is a second Host header. */
interface Checked {
  readonly host?: string
  readonly second?: string
  readonly origin?: string
  readonly site?: string
  readonly mode?: string
  readonly method?: string
}

const HOST = '127.0.0.1:4600'

test.each([
  [{ host: HOST }, undefined],
  [{ host: 'LocalHost:9' }, undefined],
  [{ host: '[::1]:4600' }, undefined],
  [{ host: 'dev.example' }, undefined],
  [
    { host: 'other.example' },
    '"other.example" is not an allowed host name. Start dev with --allowed-host to allow it.',
  ],
  [{}, /^"this host" is not an allowed host name/],
  [{ host: ':' }, /^"this host" is not an allowed host name/],
  [{ host: HOST, second: HOST }, /^"this host" is not an allowed host name/],
  [{ host: HOST, origin: `http://${HOST}` }, undefined],
  [{ host: 'LOCALHOST:1', origin: 'http://localhost:1' }, undefined],
  [{ host: HOST, origin: 'http://127.0.0.1:4601' }, 'Pages of other origins may not call this service.'],
  [{ host: HOST, origin: 'null' }, 'Pages of other origins may not call this service.'],
  [{ host: HOST, site: 'same-origin' }, undefined],
  [{ host: HOST, site: 'none' }, undefined],
  [{ host: HOST, site: 'cross-site' }, 'Other sites may not call this service.'],
  [{ host: HOST, site: 'cross-site', mode: 'navigate' }, undefined],
  [{ host: HOST, site: 'same-site', mode: 'cors' }, 'Other sites may not call this service.'],
  [{ host: HOST, site: 'cross-site', mode: 'navigate', method: 'POST' }, 'Other sites may not call this service.'],
] as [Checked, string | RegExp | undefined][])(
  'the refusal of the guard for a request with %j is: %s',
  ({ host, second, origin, site, mode, method = 'GET' }, refusal) => {
    const headers = {
      ...(origin !== undefined && { origin }),
      ...(site !== undefined && { 'sec-fetch-site': site }),
      ...(mode !== undefined && { 'sec-fetch-mode': mode }),
    }
    const names = [host, second].filter((name) => name !== undefined)
    const headersDistinct = names.length > 0 ? { host: names } : {}
    const found = new Guard(['Dev.Example']).refusal({ headers, headersDistinct, method } as IncomingMessage)
    expect(found).toEqual(refusal instanceof RegExp ? expect.stringMatching(refusal) : refusal)
  },
)
