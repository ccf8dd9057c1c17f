import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { promisify } from 'node:util'
import { createCampaignService, type RequestRecord } from 'campaign-client/testing'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { deliveryToCurl, toCurl } from '../../src/console/server/request-code.ts'
import { FULL_SIZE } from '../support/full-size.ts'

/** Writes the command to a shell, as a person pastes it. */
async function runInShell(command: string): Promise<void> {
  const running = promisify(execFile)('sh', { env: { PATH: process.env.PATH }, timeout: 120_000 })
  running.child.stdin?.end(`${command}\n`)
  await running
}

async function listeningService() {
  const service = createCampaignService()
  const server = await service.listen()
  onTestFinished(() => server.close())
  return { service, url: server.url }
}

/** The parts of a request that the command repeats. */
function repeated({ method, url, headers, bodyText }: RequestRecord) {
  const own = /^(?:host|connection|content-length|transfer-encoding|user-agent|accept)$/
  const sent = Object.entries(headers).filter(([name]) => !own.test(name))
  return { method, url, headers: Object.fromEntries(sent), bodyText }
}

const ascii = (first: number, last: number) =>
  fc.integer({ min: first, max: last }).map((code) => String.fromCharCode(code))
const textOf = (...characters: fc.Arbitrary<string>[]) =>
  fc.array(fc.oneof(...characters), { maxLength: 12 }).map((parts) => parts.join(''))
const SYNTAX = fc.constantFrom('[1-3]', '{a,b}', "'", '"', '$HOME', '`id`', '\\', '!', '%s', '\\n', '-', '@', '..', ';')

const requests = fc.record(
  {
    method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'),
    tail: textOf(SYNTAX, ascii(0x21, 0x7e)),
    headers: fc.dictionary(
      fc.constantFrom('x-a', 'x-b', 'content-type'),
      textOf(SYNTAX, ascii(0x20, 0x7e), ascii(0x80, 0xff), fc.constant('\t')),
    ),
    body: textOf(SYNTAX, ascii(0, 0x7f), fc.string({ unit: 'grapheme', maxLength: 2 }), fc.constant('\u202e')),
  },
  { requiredKeys: ['method', 'tail', 'headers'] },
)

test('the curl command sends the same request', async () => {
  const { service, url } = await listeningService()
  await fc.assert(
    fc.asyncProperty(requests, async ({ method, tail, headers, body }) => {
      service.reset()
      // Without a length, Node.js sends the body of a GET as the next request.
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
      const options = { method, headers: { ...headers, ...length }, path: `/api/v1/${tail}`, agent: false }
      const sent = request(`${url}/`, options).end(body)
      const [response] = await once(sent, 'response')
      await once(response.resume(), 'end')
      const [first] = service.requests as [RequestRecord]
      const command = toCurl(first)
      expect(command).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
      await runInShell(command)
      expect(service.requests.map(repeated)).toEqual([repeated(first), repeated(first)])
    }),
    { numRuns: FULL_SIZE ? 500 : 50 },
  )
})

test.each([
  ['a body that is longer than an argument may be', { method: 'POST', bodyText: 'n'.repeat(250_000) }],
  ['a HEAD', { method: 'HEAD' }],
])('the curl command sends %s', async (_, given) => {
  const { service, url } = await listeningService()
  await runInShell(toCurl({ url: `${url}/user`, headers: { 'x-empty': '' }, ...given }))
  expect(service.requests).toMatchObject([{ ...given, headers: { 'x-empty': '' } }])
})

test('the curl command of a delivery sends to the same URL', async () => {
  const { service, url } = await listeningService()
  await runInShell(deliveryToCurl({ url: `${url}/ä b/[1-2]{a,b}?q=é`, body: '-{}\n', signature: 'ab' }))
  expect(service.requests).toMatchObject([{ url: `${url}/%C3%A4%20b/[1-2]%7Ba,b%7D?q=%C3%A9`, bodyText: '-{}\n' }])
})
