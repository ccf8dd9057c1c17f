import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, Server as HttpServer, type IncomingMessage, request } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createWebhookReceiver, parseWebhook, signWebhook, verifyWebhook } from 'campaign-client/webhook'
import { afterEach, describe, expect, test } from 'vitest'
import { TestAuthority } from '../node/certificates.ts'
import { freePort } from '../support/server-process.ts'
import { jsonOf, type Running, run, scratchFolder, start } from './command.ts'

const SECRET = 'a secret of the webhook'
const env = { CAMPAIGN_WEBHOOK_SECRET: SECRET }

interface Received {
  readonly body: Buffer
  readonly headers: IncomingMessage['headersDistinct']
}

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

/** Starts a server on a free port. Returns its origin. */
async function originOf(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closers.push(() => {
    server.close()
    if (server instanceof HttpServer) server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Starts an endpoint that records the messages it receives. With the status 0, it does not respond. */
async function endpoint(answer: (message: Received) => { status: number; body?: string } = () => ({ status: 200 })) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const message = { body: Buffer.concat(chunks), headers: request.headersDistinct }
    received.push(message)
    const { status, body = '' } = answer(message)
    if (status === 0) return
    response.writeHead(status, { 'content-type': 'text/plain', 'x-own': 'yes' }).end(body)
  })
  return { url: `${await originOf(server)}/hooks?a=1`, received }
}

/** Starts an endpoint that writes raw bytes to the connection. */
async function rawEndpoint(write: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    socket.once('data', () => write(socket))
  })
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
  })
  return `${await originOf(server)}/`
}

const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
const ODD_ANSWERS: readonly [name: string, text: string, status: number | undefined, words: string][] = [
  ['101', SWITCHING, 101, 'status 101'],
  ['101 without an upgrade', 'HTTP/1.1 101 Odd\r\n\r\n', 101, 'status 101'],
  ['a status below 100', 'HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n', 99, 'status 99'],
  ['no response', '', undefined, 'ECONNRESET'],
  ['100 alone', 'HTTP/1.1 100 Continue\r\n\r\n', undefined, 'ECONNRESET'],
  ['text that is not HTTP', 'hello\r\n\r\n', undefined, 'HPE_INVALID_CONSTANT'],
]

const signatureOf = ({ headers }: Received): string | undefined => headers['x-service-signature']?.[0]
const payloadOf = ({ body }: Received): Record<string, unknown> => JSON.parse(body.toString('utf8'))

describe('send', () => {
  test.each([
    ['action_completed', 'action_completed', 'user_activity'],
    ['quest_completed', 'quest_completed', 'user_activity'],
    ['test', 'action_completed', 'user_activity'],
    ['user_login', 'unknown', 'user_login'],
    ['user_reward', 'unknown', 'user_reward'],
    ['referral', 'unknown', 'referral'],
  ])('sends a message of kind %s that verifies as %s', async (kind, eventKind, scope) => {
    const { url, received } = await endpoint()
    const { code, stdout, stderr } = await run(['webhook', 'send', url, '--kind', kind], { env })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^200 .* id /)
    expect(stderr.includes('assumed')).toBe(eventKind === 'unknown')
    expect(received).toHaveLength(1)
    const [message] = received as [Received]
    expect(parseWebhook(SECRET, message.body, signatureOf(message))).toMatchObject({ kind: eventKind, scope })
  })

  test('changes fields, by path', async () => {
    const { url, received } = await endpoint()
    const args = ['--set', 'event.data.xp=70', '--set', 'user=grace', '--set', 'team=null', '--id', 'message-1']
    const ended = await run(['webhook', 'send', url, ...args, '--json'], { env })
    expect(jsonOf(ended)).toMatchObject({
      version: 2,
      sent: 1,
      asExpected: 1,
      response: [{ id: 'message-1', status: 200 }],
    })
    expect(payloadOf(received[0] as Received)).toMatchObject({
      id: 'message-1',
      user: 'grace',
      team: null,
      event: { data: { xp: 70 } },
    })
  })

  test('sends several messages with different ids, or with the same id', async () => {
    const { url, received } = await endpoint()
    await run(['webhook', 'send', url, '--times', '3'], { env })
    await run(['webhook', 'send', url, '--times', '2', '--same-id'], { env })
    const ids = received.map((message) => payloadOf(message).id)
    expect(ids).toHaveLength(5)
    expect(new Set(ids.slice(0, 3)).size).toBe(3)
    expect(new Set(ids.slice(3)).size).toBe(1)
    for (const message of received) expect(verifyWebhook(SECRET, message.body, signatureOf(message))).toBe(true)
  })

  test('sends the bytes of a file as they are', async () => {
    const { url, received } = await endpoint()
    const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x20, 0x7d, 0x0d, 0x0a, 0xff])
    const file = join(scratchFolder(), 'body')
    writeFileSync(file, bytes)
    expect(await run(['webhook', 'send', url, '--file', file, '--times', '2'], { env })).toMatchObject({ code: 0 })
    for (const message of received) {
      expect(new Uint8Array(message.body)).toEqual(bytes)
      expect(verifyWebhook(SECRET, message.body, signatureOf(message))).toBe(true)
    }
    expect(received).toHaveLength(2)
  })

  test('ends with 0 if the receiver refuses a wrong or missing signature, otherwise with 1', async () => {
    const receiver = createWebhookReceiver({ endpoint: 'test', secret: SECRET, handle() {}, onReject() {} })
    const verifying = `${await originOf(createServer(receiver.node))}/`
    const { url: accepting, received } = await endpoint()
    for (const flag of ['--wrong-signature', '--unsigned']) {
      const refused = await run(['webhook', 'send', verifying, flag], { env })
      expect(refused).toMatchObject({ code: 0, stdout: expect.stringMatching(/^401 .* as expected /) })
      const accepted = await run(['webhook', 'send', accepting, flag, '--json'])
      expect(accepted.code).toBe(1)
      expect(jsonOf(accepted)).toMatchObject({ sent: 1, error: { code: 'forgery_accepted' } })
    }
    const [wrong, unsigned] = received as [Received, Received]
    expect(signatureOf(wrong)).toMatch(/^[0-9a-f]{64}$/)
    expect(signatureOf(unsigned)).toBeUndefined()
  })

  test('tells an accepted forgery, and how many, even if other messages got no response', async () => {
    let connections = 0
    const url = await rawEndpoint((socket) => {
      connections++
      if (connections === 2) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      else socket.destroy()
    })
    const ended = await run(['webhook', 'send', url, '--unsigned', '--times', '3'])
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the receiver accepted 1 of 3 messages with a missing signature'),
    })
  })

  test('counts the messages without a response, and those with the unexpected status', async () => {
    const statuses = [500, undefined, 404, 500]
    const url = await rawEndpoint((socket) => {
      const status = statuses.shift()
      if (status === undefined) socket.destroy()
      else socket.end(`HTTP/1.1 ${status} Failed\r\nContent-Length: 0\r\n\r\n`)
    })
    const silent = await run(['webhook', 'send', url, '--times', '2'], { env })
    expect(silent).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('no response to 1 of 2 messages: ECONNRESET'),
    })
    const refused = await run(['webhook', 'send', url, '--times', '2'], { env })
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('unexpected status 404 for 1 of 2 messages'),
    })
  })

  test('exit code 1 for a refusal by the receiver, and 4 for no response', async () => {
    const { url } = await endpoint(() => ({ status: 500, body: 'down\u001b[31m' }))
    const refused = await run(['webhook', 'send', url], { env })
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.stdout).toContain('500  down\\u001b[31m')
    expect(await run(['webhook', 'send', url, '--expect', '500'], { env })).toMatchObject({ code: 0 })
    const nobody = await run(['webhook', 'send', `http://127.0.0.1:${await freePort()}/`], { env })
    expect(nobody).toMatchObject({ code: 4 })
    expect(nobody.stderr).toContain('ECONNREFUSED')
  })

  test.each([
    [404, 'has no route with this path'],
    [500, 'the handler threw'],
  ])('says what a %i of the receiver usually means', async (status, advice) => {
    const { url } = await endpoint(() => ({ status }))
    const { code, stderr } = await run(['webhook', 'send', url], { env })
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(advice) })
    expect(stderr).toContain(`unexpected status ${status}`)
  })

  test('shows where a redirect leads, and says that it is not followed', async () => {
    const url = await rawEndpoint((socket) =>
      socket.end('HTTP/1.1 308 Moved\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n'),
    )
    const { code, stdout, stderr } = await run(['webhook', 'send', url], { env })
    expect(code).toBe(1)
    expect(stdout).toContain('308  (empty response)  → /login')
    expect(stderr).toContain('the receiver redirects to /login. Redirects are not followed here')
    const json = await run(['webhook', 'send', url, '--json'], { env })
    expect(jsonOf(json)).toMatchObject({ response: [{ status: 308, location: '/login' }] })
  })

  describe('says what is wrong with the connection', () => {
    const servers: [name: string, advice: string, url: () => Promise<string>][] = [
      [
        'a certificate of an unknown authority',
        'set NODE_EXTRA_CA_CERTS to the PEM file',
        async () => {
          const authority = await TestAuthority.create()
          const origin = await originOf(createTlsServer(await authority.issue('localhost')))
          return origin.replace('http://127.0.0.1', 'https://localhost')
        },
      ],
      [
        'a port without TLS',
        'the port does not speak TLS: use http://',
        async () => (await originOf(createServer())).replace('http:', 'https:'),
      ],
      [
        'a receiver with HTTP/2 only, without TLS',
        'the receiver accepts HTTP/2 only',
        () => originOf(createHttp2Server()),
      ],
    ]

    test.each(servers)('%s', async (_, advice, url) => {
      const ended = await run(['webhook', 'send', await url(), '--json'], { env })
      expect(ended.code).toBe(4)
      expect(jsonOf(ended)).toMatchObject({
        response: [{ advice: expect.stringContaining(advice) }],
        error: { code: 'network', advice: expect.stringContaining(advice) },
      })
    })
  })

  test('prints the fields of the message that a receiver reports as issues', async () => {
    const { url } = await endpoint()
    const args = ['webhook', 'send', url, '--set', 'event.data.xp="70"']
    const [words, json] = await Promise.all([run(args, { env }), run([...args, '--json'], { env })])
    expect(words.stdout).toMatch(/^ +unexpected shape {2}event\.data\.xp: /m)
    expect(jsonOf(json)).toMatchObject({ response: [{ issues: [{ path: ['event', 'data', 'xp'] }] }] })
    expect((await run(['webhook', 'send', url], { env })).stdout).not.toContain('unexpected shape')
  })

  test('accepts a URL with a scheme in capitals', async () => {
    const { url, received } = await endpoint()
    expect(await run(['webhook', 'send', url.replace('http:', 'HTTP:')], { env })).toMatchObject({ code: 0 })
    expect(received).toHaveLength(1)
    const secure = await run(['webhook', 'send', `HTTPS://127.0.0.1:${await freePort()}/`], { env })
    expect(secure).toMatchObject({ code: 4, stderr: expect.stringContaining('ECONNREFUSED') })
  })

  test.each(ODD_ANSWERS)('reports an unusual response of the receiver: %s', async (_, text, status, words) => {
    const url = await rawEndpoint((socket) => socket.end(text))
    const ended = await run(['webhook', 'send', url, '--json'], { env })
    expect(ended.code).toBe(status === undefined ? 4 : 1)
    expect(jsonOf(ended)).toMatchObject({
      sent: 1,
      asExpected: 0,
      response: [status === undefined ? { error: words } : { status }],
      error: { code: status === undefined ? 'network' : 'unexpected_status' },
    })
  })

  test('ends after a 101, and does not count it as an accepted forgery', async () => {
    const url = await rawEndpoint((socket) => socket.write(SWITCHING))
    expect(await run(['webhook', 'send', url, '--unsigned'])).toMatchObject({ code: 1 })
    expect(await run(['webhook', 'send', url, '--expect', '101'], { env })).toMatchObject({ code: 0 })
  })

  test('--timeout limits the time until the end of the response', async () => {
    const args = ['--timeout', '200', '--json']
    const silent = await rawEndpoint(() => undefined)
    const none = await run(['webhook', 'send', silent, ...args], { env })
    expect(none.code).toBe(4)
    expect(jsonOf(none)).toMatchObject({ response: [{ error: 'no response within 200 ms' }] })

    const endless = await rawEndpoint((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nthe beginning'))
    const begun = await run(['webhook', 'send', endless, ...args], { env })
    expect(begun.code).toBe(0)
    expect(jsonOf(begun)).toMatchObject({ response: [{ status: 200, text: 'the beginning' }] })
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('%s prints the responses so far and ends by the signal', async (signal) => {
    const { url, received } = await endpoint(() => ({ status: received.length > 1 ? 0 : 200 }))
    const running = start(['webhook', 'send', url, '--times', '9', '--json'], { env })
    await expect.poll(() => received.length).toBe(2)
    running.kill(signal)
    const ended = await running.ended
    expect(ended.signal).toBe(signal)
    expect(jsonOf(ended)).toMatchObject({ sent: 2, response: [{ status: 200 }, { error: 'interrupted' }] })
    expect(received).toHaveLength(2)
  })

  test.each([
    [['nonsense'], 'It must be a URL'],
    [['ftp://127.0.0.1/'], 'It must be a URL'],
    [['http://user:hunter2@127.0.0.1/'], 'user name or a password'],
    [['http://127.0.0.1:1/', '--kind', 'x'], 'Allowed choices are'],
    [['http://127.0.0.1:1/', '--times', '0'], 'from 1 to'],
    [['http://127.0.0.1:1/', '--set', 'xp'], 'Put = between'],
    [['http://127.0.0.1:1/', '--set', 'user=ada', '--set', 'user=grace'], '--set <path=value>: "user" is given twice'],
    [['http://127.0.0.1:1/', '--set', 'a.b.c=1'], 'no object that can hold "a.b.c"'],
    [['http://127.0.0.1:1/', '--file', 'x', '--id', 'y'], 'cannot be used with'],
    [['http://127.0.0.1:1/', '--file', '/no/such'], 'there is no such file'],
  ])('%j is refused before anything is sent', async (args, sentence) => {
    const { code, stderr } = await run(['webhook', 'send', ...args], { env })
    expect(code).toBe(2)
    expect(stderr).toContain(sentence)
    expect(stderr).not.toContain('hunter2')
  })

  // Node.js 26 writes JSON of any depth.
  const isLimited = Number.parseInt(process.versions.node, 10) < 26
  test.runIf(isLimited)('a value of --set that is nested too deeply is refused', async () => {
    const value = `event=${'['.repeat(20_000)}${']'.repeat(20_000)}`
    const ended = await run(['webhook', 'send', 'http://127.0.0.1:1/', '--set', value], { env })
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('--set: a value is nested too deeply') })
  })

  test('without a secret, names the environment variable', async () => {
    const { code, stderr } = await run(['webhook', 'send', 'http://127.0.0.1:1/'])
    expect(code).toBe(2)
    expect(stderr).toContain('CAMPAIGN_WEBHOOK_SECRET')
  })
})

describe('verify and diagnose', () => {
  const BODY = '{"id":"1","scope":"x"}'

  async function runBoth(command: 'verify' | 'diagnose', body: string | Uint8Array, signature: string) {
    const file = join(scratchFolder(), 'body')
    writeFileSync(file, body)
    const args = ['webhook', command, file, '--signature', signature]
    const words = await run(args, { env })
    const json = await run([...args, '--json'], { env })
    expect(json.code).toBe(words.code)
    expect(words.stdout + words.stderr + json.stdout).not.toContain(SECRET)
    return { code: words.code, words: words.stdout, json: jsonOf(json) }
  }

  test('accept a correct signature', async () => {
    const signature = signWebhook(SECRET, BODY)
    expect(await runBoth('verify', BODY, signature)).toMatchObject({
      code: 0,
      words: expect.stringContaining('right'),
      json: { version: 2, valid: true, id: '1', kind: 'unknown' },
    })
    expect(await runBoth('diagnose', BODY, signature)).toMatchObject({ code: 0, json: { matches: true, findings: [] } })
    const odd = '{"id":"1","scope":"user_activity","event":{"type":"quest_completed"}}'
    expect(await runBoth('verify', odd, signWebhook(SECRET, odd))).toMatchObject({
      code: 0,
      words: expect.stringContaining('unexpected shape  user: '),
      json: { kind: 'unknown', issues: expect.arrayContaining([expect.objectContaining({ path: ['user'] })]) },
    })
  })

  test('read the body from standard input', async () => {
    for (const command of ['verify', 'diagnose']) {
      const args = ['webhook', command, '-', '--signature', signWebhook(SECRET, BODY)]
      expect(await run(args, { env, input: BODY })).toMatchObject({ code: 0 })
    }
  })

  test('accept a correct signature of a body that is not a message', async () => {
    expect(await runBoth('verify', 'no json', signWebhook(SECRET, 'no json'))).toMatchObject({
      code: 0,
      json: { valid: true, reason: 'invalid_json' },
    })
  })

  test.each([
    ['another secret', BODY, signWebhook('another', BODY), 'signature_mismatch', 'unexplained'],
    ['a prefix', BODY, `sha256=${signWebhook(SECRET, BODY)}`, 'malformed_signature', 'prefixed_signature'],
    ['an empty signature', BODY, '', 'missing_signature', 'missing_signature'],
  ])('refuse a wrong signature: %s', async (_, body, signature, reason, finding) => {
    expect(await runBoth('verify', body, signature)).toMatchObject({ code: 1, json: { valid: false, reason } })
    const { code, json, words } = await runBoth('diagnose', body, signature)
    expect(code).toBe(1)
    expect(json).toMatchObject({ matches: false, findings: [{ code: finding, message: expect.any(String) }] })
    expect(words).toContain(finding)
  })

  test('need a file, a signature or a headers file, and a secret', async () => {
    for (const command of ['verify', 'diagnose']) {
      expect(await run(['webhook', command, '/dev/null'], { env })).toMatchObject({ code: 2 })
      expect(await run(['webhook', command, '/no/such', '--signature', 'x'], { env })).toMatchObject({ code: 2 })
      expect(await run(['webhook', command, '/dev/null', '--signature', 'x'])).toMatchObject({ code: 2 })
    }
  })
})

describe('listen', () => {
  const urlOf = async (listening: Running): Promise<string> =>
    (await listening.until('stderr', /listening at (\S+)/))[1] as string

  const send = (url: string, body: string | Uint8Array<ArrayBuffer>, signature: string | undefined) =>
    fetch(url, { method: 'POST', body, headers: signature === undefined ? {} : { 'x-service-signature': signature } })

  test('verifies and shows each message, and stops after --count messages', async () => {
    const listening = start(['webhook', 'listen', '--port', '0', '--count', '3', '--json'], { env })
    const url = await urlOf(listening)
    const body = '{"id":"1\\u001b[31m","scope":"x"}'
    expect((await send(`${url}a`, body, signWebhook(SECRET, body))).status).toBe(200)
    expect((await send(`${url}b`, body, 'f'.repeat(64))).status).toBe(401)
    expect((await send(`${url}c`, body, undefined)).status).toBe(401)
    const ended = await listening.ended
    expect(ended.code).toBe(1)
    const lines = ended.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toMatchObject([
      { version: 2, message: { path: '/a', body, examined: { valid: true, id: '1\u001b[31m' }, status: 200 } },
      { message: { path: '/b', examined: { valid: false, reason: 'signature_mismatch' }, status: 401 } },
      { message: { path: '/c', examined: { valid: false, reason: 'missing_signature' }, status: 401 } },
      { version: 2, received: 3, verified: 1, wrong: 2 },
    ])
    expect(ended.stdout).not.toContain('\u001b')
  })

  test('forwards bytes and headers, and returns the response', async () => {
    const own = await endpoint(() => ({ status: 418, body: 'a teapot' }))
    const listening = start(['webhook', 'listen', '--port', '0', '--forward-to', own.url, '--body'], { env })
    const url = await urlOf(listening)
    const body = new Uint8Array([0x7b, 0x22, 0xff, 0x0d, 0x0a])
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: { 'x-service-signature': 'wrong', 'x-other': 'kept', 'content-type': 'text/odd' },
    })
    expect([response.status, await response.text()]).toEqual([418, 'a teapot'])
    const [message] = own.received as [Received]
    expect(new Uint8Array(message.body)).toEqual(body)
    expect(message.headers).toMatchObject({
      'x-service-signature': ['wrong'],
      'x-other': ['kept'],
      'content-type': ['text/odd'],
      host: [new URL(own.url).host],
    })
    await listening.until('stdout', /418 {2}a teapot/)
    listening.kill('SIGINT')
    expect(await listening.ended).toMatchObject({ code: 1, stdout: expect.stringContaining('wrong signature') })
  })

  test('forwards a compressed response unchanged, with its headers', async () => {
    const compressed = gzipSync('{"retry":true}')
    const receiver = createServer((request, response) => {
      const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json', 'retry-after': '7' }
      request.resume().on('end', () => response.writeHead(503, headers).end(compressed))
    })
    const target = await originOf(receiver)
    const listening = start(['webhook', 'listen', '--port', '0', '--forward-to', target, '--count', '1'], { env })
    const response = await send(await urlOf(listening), '{"id":"1"}', signWebhook(SECRET, '{"id":"1"}'))
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('7')
    expect(await response.json()).toEqual({ retry: true })
    expect((await listening.ended).stdout).toContain(`503  (${compressed.length} bytes of gzip)`)
  })

  test.each([
    ['a binary response', new Uint8Array([0xff, 0x00, 0x80, 0x0d])],
    // Larger than the buffers of a connection.
    ['a response of 15 MB', new Uint8Array(15_000_000).fill(0x78)],
  ])('forwards %s unchanged, also if it was the last message', async (_, bytes) => {
    const target = await rawEndpoint((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes.length}\r\n\r\n`)
      socket.end(bytes)
    })
    const listening = start(['webhook', 'listen', '--port', '0', '--forward-to', target, '--count', '1'], { env })
    const response = await send(await urlOf(listening), '{"id":"1"}', signWebhook(SECRET, '{"id":"1"}'))
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
    expect(await listening.ended).toMatchObject({ code: 0 })
  })

  test('prints the diagnosis of a refused message, and its signature with --json', async () => {
    const args = ['webhook', 'listen', '--port', '0', '--count', '1']
    const body = '{"id":"1"}'
    const signature = `sha256=${signWebhook(SECRET, body)}`
    const words = start(args, { env })
    await send(await urlOf(words), body, signature)
    expect((await words.ended).stdout).toMatch(/^ +prefixed_signature {2}The signature has a prefix/m)
    const json = start([...args, '--json'], { env })
    await send(await urlOf(json), body, signature)
    const [line = ''] = (await json.ended).stdout.split('\n')
    expect(JSON.parse(line)).toMatchObject({
      message: { signature: [signature], findings: [{ code: 'prefixed_signature' }] },
    })
  })

  test('--save writes body and headers of each message, which verify, diagnose and send can read', async () => {
    const cwd = scratchFolder()
    const args = ['webhook', 'listen', '--port', '0', '--count', '2', '--save', 'new/messages']
    const listening = start(args, { env, cwd })
    const url = await urlOf(listening)
    const bodies = ['{"id":"1"}\n', '{"id":"2"}']
    await send(url, bodies[0] as string, signWebhook(SECRET, bodies[0] as string))
    await send(url, bodies[1] as string, signWebhook('another', bodies[1] as string))
    expect(await listening.ended).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/saved {2}new\/messages\/.*-1\.body/),
    })
    const files = readdirSync(join(cwd, 'new/messages')).filter((name) => name.endsWith('.body'))
    const read = files.map((name) => readFileSync(join(cwd, 'new/messages', name), 'utf8'))
    expect(read).toEqual(bodies)
    const codes = []
    for (const name of files) {
      const { code } = await run(['webhook', 'verify', `new/messages/${name}`], { env, cwd })
      codes.push(code)
    }
    expect(codes).toEqual([0, 1])
    const diagnosed = await run(['webhook', 'diagnose', `new/messages/${files[1]}`, '--json'], { env, cwd })
    expect(jsonOf(diagnosed)).toMatchObject({ matches: false, findings: [{ code: 'unexplained' }] })
  })

  test('refuses a folder for --save that cannot be written, before it listens', async () => {
    const cwd = scratchFolder()
    writeFileSync(join(cwd, 'file'), '')
    const refusalOf = async (folder: string) => {
      const { code, stderr } = await run(['webhook', 'listen', '--save', folder], { env, cwd })
      return { code, reason: stderr.trim().split(': ').at(-1) }
    }
    expect(await refusalOf('file')).toEqual({ code: 2, reason: 'there is a file with this name' })
    expect(await refusalOf('file/messages')).toEqual({ code: 2, reason: 'a part of its path is not a directory' })
  })

  test.each(ODD_ANSWERS)(
    'responds with 502 to an unusual response of the receiver at --forward-to: %s',
    async (_, text, _status, words) => {
      const target = await rawEndpoint((socket) => socket.end(text))
      const args = ['--forward-to', target, '--count', '1']
      const listening = start(['webhook', 'listen', '--port', '0', ...args], { env })
      const body = '{"id":"1"}'
      expect((await send(await urlOf(listening), body, signWebhook(SECRET, body))).status).toBe(502)
      const { code, stdout } = await listening.ended
      expect(code).toBe(0)
      expect(stdout).toMatch(/verified .*→ 502\n/)
      expect(stdout).toContain(words)
    },
  )

  test('--status sets the status of the response; without a secret nothing is verified', async () => {
    const listening = start(['webhook', 'listen', '--port', '0', '--status', '503', '--count', '1'])
    expect((await send(await urlOf(listening), '{}', undefined)).status).toBe(503)
    expect(await listening.ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('not verified'),
      stderr: expect.stringContaining('CAMPAIGN_WEBHOOK_SECRET is not set'),
    })
  })

  test('a request that is not a message is refused and not counted', async () => {
    const listening = start(['webhook', 'listen', '--port', '0', '--count', '1', '--json'], { env })
    const url = await urlOf(listening)
    expect((await fetch(url)).status).toBe(405)
    expect((await send(url, 'x'.repeat(1_048_577), undefined)).status).toBe(413)
    for (const origin of ['https://page.example', 'null', url.replace('127.0.0.1', 'localhost')]) {
      const response = await fetch(url, { method: 'POST', body: '{}', headers: { origin } })
      expect([origin, response.status]).toEqual([origin, 403])
    }
    // A tunnel passes on its own host name.
    const tunnelled = request(url, { method: 'POST', headers: { host: 'tunnel.example' } }).end('{}')
    const [response] = (await once(tunnelled, 'response')) as [IncomingMessage]
    expect(response.resume().statusCode).toBe(401)
    expect(jsonOf(await listening.ended)).toMatchObject({ received: 1 })
  })

  test.each(['--body', '--json'])('with %s, prints a body that is nested too deeply, and continues', async (flag) => {
    const listening = start(['webhook', 'listen', '--port', '0', '--count', '2', flag], { env })
    const url = await urlOf(listening)
    const body = `{"id":"1","x":${'['.repeat(9_000)}${']'.repeat(9_000)}}`
    for (const signature of [undefined, signWebhook(SECRET, body)]) await send(url, body, signature)
    const { stdout, stderr } = await listening.ended
    expect(stdout.split(`${'['.repeat(999)}`)).toHaveLength(flag === '--body' ? 3 : 19)
    expect(stderr).not.toContain('warning')
  })

  test('--within ends the command, with exit code 4 if too few messages arrived', async () => {
    const ended = await run(['webhook', 'listen', '--port', '0', '--count', '1', '--within', '1', '--json'], { env })
    expect(ended.code).toBe(4)
    expect(jsonOf(ended)).toMatchObject({ received: 0, error: { code: 'too_few_messages' } })
  })

  test('a port in use is refused with advice', async () => {
    const { url } = await endpoint()
    const ended = await run(['webhook', 'listen', '--port', new URL(url).port], { env })
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('is already in use') })
  })
})
