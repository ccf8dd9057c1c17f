import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { CampaignClient, type CampaignError } from 'campaign-client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { pathTo } from '../../scripts/repository.ts'
import { operations } from '../contract/operations.ts'
import { connectionsClosed } from '../support/connections-closed.ts'
import { freePort } from '../support/server-process.ts'
import { jsonOf, run, scratchFolder, start } from './command.ts'
import { listeningService } from './service.ts'

const USER = ['--account', 'ada', '--platform', 'discord', '--pid', 'demo']
const AWARD = { address: '0x52908400098527886E0F7030069857D2E4169EE7', pid: 'demo', id: 'launch-party', xp: 250 }
const flagsOf = (request: Readonly<Record<string, string | number>>): string[] =>
  Object.entries(request).flatMap(([name, value]) => [`--${name}`, String(value)])

test('prints the data of a response as JSON', async () => {
  const { env } = await listeningService()
  const { code, stdout, stderr } = await run(['call', 'getUserProgress', ...USER], { env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(stdout)).toMatchObject({ user_id: 'ada', total: 1215 })
  expect(stdout.split('\n').length).toBeGreaterThan(10)
})

test('with --json the result is one line with a version', async () => {
  const { env } = await listeningService()
  const ended = await run(['--json', 'call', 'getCampaignPoints', '--pid', 'demo'], { env })
  expect(ended.stdout.trimEnd().split('\n')).toHaveLength(1)
  expect(jsonOf(ended)).toMatchObject({ version: 2, data: { id: 'demo' } })
})

test('prints nothing for a method without data; with --json, an object without data', async () => {
  const { env, service } = await listeningService()
  const words = await run(['call', 'rewardWallet', ...flagsOf(AWARD)], { env })
  expect(words).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(service.state.awards).toMatchObject([AWARD])
  const json = await run(['call', 'rewardWallet', ...flagsOf({ ...AWARD, id: 'other' }), '--json'], { env })
  expect(json).toMatchObject({ code: 0, stdout: '{"version":2}\n' })
})

test.each(operations)('the help of $name describes each argument, except for secrets', async ({ name, fields }) => {
  const { code, stdout } = await run(['call', name, '--help'])
  expect(code).toBe(0)
  const page = readFileSync(pathTo(`docs/methods/${name}.md`), 'utf8')
  const words = stdout.replaceAll(/\s+/g, ' ')
  for (const field of Object.keys(fields)) {
    const [, meaning = ''] = new RegExp(`^\\| \`${field}\` \\| (.+?) \\|`, 'm').exec(page) ?? []
    expect(meaning, field).not.toBe('')
    if (field === 'secret') expect(stdout).not.toContain('--secret')
    else expect(words).toContain(`> ${meaning.replaceAll('`', '')} Example: `)
  }
})

test.each(operations)('the service accepts the example in the help of $name', async ({ name }) => {
  const { env, service } = await listeningService()
  const { stdout } = await run(['call', name, '--help'])
  const [, example = ''] = stdout.split('$ npx campaign-client ')
  const args = example.replaceAll('\\\n', '').trim().split(/ +/)
  expect(args.length).toBeGreaterThan(3)
  expect(await run(args, { env })).toMatchObject({ code: 0, stderr: '' })
  expect(service.requests).toMatchObject([{ operation: name, status: 200 }])
})

test.each([
  ['in one line below 100 levels', 101, 101],
  ['cut below 1000 levels', 9_000, 1_000],
])('data of a write that is nested too deeply is printed, %s', async (_, levels, printed) => {
  const { env, service } = await listeningService()
  const deep = (depth: number) => `{"x":`.repeat(depth)
  const body = `{"success":true,"data":${deep(levels)}1${'}'.repeat(levels)}}`
  service.fail({ on: 'updateUser', kind: 'status', status: 200, body, times: 2 })
  const words = await run(['call', 'updateUser', ...USER, '--name', 'Ada'], { env })
  expect(words).toMatchObject({ code: 0, stderr: '' })
  expect(words.stdout).toMatch(new RegExp(`^(?:{"x":){${printed}}[^{]*}+\n$`))
  const json = await run(['call', 'updateUser', ...USER, '--name', 'Ada', '--json'], { env })
  expect(json).toMatchObject({ code: 0, stderr: '' })
  expect(jsonOf(json)).toHaveProperty(['data', 'x', 'x'])
})

test('names missing arguments by their flags', async () => {
  const { env, service } = await listeningService()
  const { code, stderr } = await run(['call', 'getUserProgress', '--account', 'ada'], { env })
  expect(code).toBe(2)
  expect(stderr).toContain('getUserProgress needs --platform, --pid')
  expect(service.requests).toEqual([])
})

describe('--input', () => {
  const fileOf = (content: string | Uint8Array): string => {
    const file = join(scratchFolder(), 'input.json')
    writeFileSync(file, content)
    return file
  }

  test('reads arguments from a file, combined with flags', async () => {
    const { env, service } = await listeningService()
    const { xp, ...others } = AWARD
    const file = fileOf(JSON.stringify(others))
    expect(await run(['call', 'rewardWallet', '--input', file, '--xp', String(xp)], { env })).toMatchObject({ code: 0 })
    expect(service.state.awards).toMatchObject([AWARD])
  })

  test('reads arguments from standard input, secrets included', async () => {
    const { env, service } = await listeningService()
    const input = JSON.stringify({ scope: 'user_activity', url: 'http://127.0.0.1:1/', secret: 'hunter2' })
    const args = ['call', 'registerWebhook', '--registration-path', 'webhook', '--input', '-']
    const ended = await run(args, { env, input })
    expect(ended.code).toBe(0)
    expect(ended.stdout + ended.stderr).not.toContain('hunter2')
    expect(service.webhooks).toMatchObject([{ signed: true }])
  })

  test.each([
    ['{"pid": ', 'is not JSON'],
    ['[]', 'must contain a JSON object'],
    ['"hunter2"', 'must contain a JSON object'],
    [new Uint8Array([0x7b, 0xff, 0x7d]), 'is not text in UTF-8'],
  ])('refuses %s', async (input, sentence) => {
    const { env, service } = await listeningService()
    const { code, stderr, stdout } = await run(['call', 'getCampaignInfo', '--input', fileOf(input)], { env })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(sentence)
    expect(stderr).not.toContain('hunter2')
    expect(service.requests).toEqual([])
  })

  test.each([
    ['setReferrerByRefId', '{"refId":"x"}', 'did you mean "ref_id"?'],
    ['updateUser', '{"acount":"ada"}', 'did you mean "account"?'],
    ['rewardWallet', '{"colour":"red"}', 'its arguments are address, pid, id, xp'],
  ])('refuses an unknown field: %s %s', async (operation, input, advice) => {
    const { env, service } = await listeningService()
    const { code, stderr } = await run(['call', operation, '--input', fileOf(input)], { env })
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(advice) })
    expect(stderr).toContain(`${operation} has no argument "${Object.keys(JSON.parse(input))[0]}"`)
    expect(service.requests).toEqual([])
  })

  test('refuses an argument that is given twice, and a missing file', async () => {
    const { env } = await listeningService()
    const twice = ['call', 'getCampaignInfo', '--pid', 'demo', '--input', fileOf('{"pid":"x"}')]
    expect((await run(twice, { env })).stderr).toContain('pid is given twice')
    const missing = await run(['call', 'getCampaignInfo', '--input', '/no/such/file'], { env })
    expect(missing).toMatchObject({ code: 2, stdout: '' })
    expect(missing.stderr).toContain('there is no such file')
  })
})

test('refuses an endless file', async () => {
  const { env, service } = await listeningService()
  const { code, stderr } = await run(['call', 'getCampaignInfo', '--input', '/dev/zero'], { env })
  expect(code).toBe(2)
  expect(stderr).toContain('is larger than 64 MB')
  expect(service.requests).toEqual([])
})

describe('read-only and allowed campaigns', () => {
  test.each([
    [['--read-only'], {}],
    [[], { CAMPAIGN_READ_ONLY: '1' }],
    [[], { CAMPAIGN_READ_ONLY: 'true' }],
    [[], { CAMPAIGN_ALLOWED_CAMPAIGNS: 'live,test' }],
  ])('%j with %j refuses each write before it is sent, and allows reads', async (flags, more) => {
    const { env, service } = await listeningService()
    const writes = [
      ['rewardWallet', ...flagsOf(AWARD)],
      ['updateUser', ...USER, '--name', 'Ada'],
      ['registerWebhook', '--scope', 'x', '--url', 'http://127.0.0.1:1/', '--registration-path', 'webhook'],
    ]
    for (const args of writes) {
      const { code, stdout, stderr } = await run(['call', ...args, ...flags], { env: { ...env, ...more } })
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toMatch(/--read-only|CAMPAIGN_ALLOWED_CAMPAIGNS/)
    }
    expect(service.requests).toEqual([])
    const read = await run(['call', 'getCampaignInfo', '--pid', 'demo', ...flags], { env: { ...env, ...more } })
    expect(read).toMatchObject({ code: 0 })
  })

  test.each([
    { CAMPAIGN_READ_ONLY: 'yes' },
    { CAMPAIGN_READ_ONLY: 'TRUE' },
    { CAMPAIGN_READ_ONLY: '' },
    { CAMPAIGN_ALLOWED_CAMPAIGNS: '' },
    { CAMPAIGN_ALLOWED_CAMPAIGNS: 'demo,,test' },
  ])('refuses %j, even for a read', async (more) => {
    const { env, service } = await listeningService()
    const { code, stderr } = await run(['call', 'getCampaignInfo', '--pid', 'demo'], { env: { ...env, ...more } })
    expect(code).toBe(2)
    expect(stderr).toMatch(/CAMPAIGN_READ_ONLY must be 1|must be a list of campaign IDs/)
    expect(service.requests).toEqual([])
  })

  test.each([
    { CAMPAIGN_READ_ONLY: '0' },
    { CAMPAIGN_READ_ONLY: 'false' },
    { CAMPAIGN_ALLOWED_CAMPAIGNS: 'test, demo' },
  ])('%j allows the write', async (more) => {
    const { env, service } = await listeningService()
    expect(await run(['call', 'rewardWallet', ...flagsOf(AWARD)], { env: { ...env, ...more } })).toMatchObject({
      code: 0,
    })
    expect(service.state.awards).toHaveLength(1)
  })
})

test('an error ends with the path of its section in the documentation', async () => {
  const { env } = await listeningService({ tokens: ['another'] })
  const { stderr } = await run(['call', 'getCampaignInfo', '--pid', 'demo'], { env })
  const client = new CampaignClient({ baseUrl: env.CAMPAIGN_BASE_URL as string, accessToken: 'any' })
  const { message } = (await client.getCampaignInfo({ pid: 'demo' }).catch((reason) => reason)) as CampaignError
  expect(stderr).toContain(`error ${message} (docs/error-codes.md#unauthorized)\n`)
})

test('refuses a secret in a flag of registerWebhook without showing it', async () => {
  const { env } = await listeningService()
  const required = ['--scope', 'x', '--url', 'http://127.0.0.1:1/', '--registration-path', 'hooks']
  const args = ['call', 'registerWebhook', ...required, '--secret', 'hunter2']
  const { code, stderr } = await run(args, { env })
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('reads its secret from --input') })
  expect(stderr).not.toContain('hunter2')
})

const NOT_DIGITS = 'Use digits only'
const TOO_MANY = 'more than 15 digits'
test.each([
  ['1e3', NOT_DIGITS],
  ['1,000', NOT_DIGITS],
  ['0x10', NOT_DIGITS],
  ['Infinity', NOT_DIGITS],
  ['12 ', NOT_DIGITS],
  ['٣', NOT_DIGITS],
  ['9007199254740993', TOO_MANY],
  ['0.1234567890123456', TOO_MANY],
])('the number %s is refused: %s', async (xp, sentence) => {
  const { env, service } = await listeningService()
  const { code, stderr } = await run(['call', 'rewardWallet', ...flagsOf({ ...AWARD, xp })], { env })
  expect(code).toBe(2)
  expect(stderr).toContain('--xp')
  expect(stderr).toContain(sentence)
  expect(service.requests).toEqual([])
})

test.each([
  [[], "'--registration-path <path>' not specified"],
  [['--registration-path', '../hooks'], '--registration-path must be a path below the base URL'],
])('registerWebhook refuses the path %j and names the flag', async (path, sentence) => {
  const { env, service } = await listeningService()
  const args = ['call', 'registerWebhook', '--scope', 'user_activity', '--url', 'http://127.0.0.1:1/', ...path]
  const { code, stderr } = await run(args, { env })
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(sentence) })
  expect(stderr).not.toContain('webhookRegistrationPath')
  expect(service.requests).toEqual([])
})

test('--query adds query parameters', async () => {
  const { env, service } = await listeningService()
  const args = ['call', 'getCampaignInfo', '--pid', 'demo', '--query', 'env=dev', '--query', 'a=b=c']
  expect(await run(args, { env })).toMatchObject({ code: 0 })
  expect(service.requests[0]?.query).toMatchObject({ env: ['dev'], a: ['b=c'] })
})

test('refuses a query parameter that is given twice', async () => {
  const { env, service } = await listeningService()
  const args = ['call', 'getCampaignInfo', '--pid', 'demo', '--query', 'env=dev', '--query', 'env=live']
  const { code, stderr } = await run(args, { env })
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('--query <name=value>: "env" is given twice'),
  })
  expect(service.requests).toEqual([])
})

describe('the environment', () => {
  test.each([
    [{}, 'CAMPAIGN_BASE_URL is not set'],
    [{ CAMPAIGN_BASE_URL: 'http://127.0.0.1:1/api/v1' }, 'CAMPAIGN_ACCESS_TOKEN is not set'],
    [{ CAMPAIGN_BASE_URL: 'nonsense', CAMPAIGN_ACCESS_TOKEN: 'any' }, 'CAMPAIGN_BASE_URL must'],
    [{ CAMPAIGN_BASE_URL: 'http://example.com/api/v1', CAMPAIGN_ACCESS_TOKEN: 'any' }, 'CAMPAIGN_BASE_URL must'],
    [{ CAMPAIGN_BASE_URL: 'http://127.0.0.1:1/', CAMPAIGN_ACCESS_TOKEN: 'hun ter2' }, 'CAMPAIGN_ACCESS_TOKEN must'],
    [
      { CAMPAIGN_BASE_URL: 'http://me:hunter2@127.0.0.1/api/v1', CAMPAIGN_ACCESS_TOKEN: 'any' },
      'must not contain credentials',
    ],
    [
      { CAMPAIGN_BASE_URL: 'http://127.0.0.1:1/?key=hunter2', CAMPAIGN_ACCESS_TOKEN: 'any' },
      'must not contain a query',
    ],
    [
      { CAMPAIGN_BASE_URL: 'http://127.0.0.1:1/', CAMPAIGN_ACCESS_TOKEN: 'a', CAMPAIGN_ACCESS_TOKEN_FILE: 'b' },
      'both set',
    ],
    [{ CAMPAIGN_BASE_URL: 'http://127.0.0.1:1/', CAMPAIGN_ACCESS_TOKEN_FILE: '/no/such/file' }, 'no such file'],
  ])('%o is refused: %s', async (env, sentence) => {
    const { code, stderr, stdout } = await run(['call', 'getCampaignInfo', '--pid', 'demo'], { env })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(sentence)
    expect(stderr).not.toContain('ter2')
    // The message must name environment variables, not options of the client.
    expect(stderr).not.toMatch(/baseUrl|accessToken|function|pass query/)
  })

  test('refuses a token file that cannot be read twice', async () => {
    const pipe = join(scratchFolder(), 'pipe')
    execFileSync('mkfifo', [pipe])
    for (const file of [pipe, '/dev/zero']) {
      const env = { CAMPAIGN_BASE_URL: 'http://127.0.0.1:1/', CAMPAIGN_ACCESS_TOKEN_FILE: file }
      const { code, stderr } = await run(['call', 'getCampaignInfo', '--pid', 'demo'], { env })
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('is a pipe or a device') })
    }
  })

  test('a token file is read again after a 401', async () => {
    const file = join(scratchFolder(), 'token')
    writeFileSync(file, 'old\n')
    const { env, service } = await listeningService({ tokens: ['new'] })
    service.subscribe(({ kind }) => {
      if (kind === 'request_answered') writeFileSync(file, 'new\n')
    })
    const fromFile = { CAMPAIGN_BASE_URL: env.CAMPAIGN_BASE_URL as string, CAMPAIGN_ACCESS_TOKEN_FILE: file }
    expect(await run(['call', 'getCampaignInfo', '--pid', 'demo'], { env: fromFile })).toMatchObject({ code: 0 })
    expect(service.requests.map(({ status }) => status)).toEqual([401, 200])
  })
})

describe('exit codes', () => {
  test('3 when the service refuses the token', async () => {
    const { env } = await listeningService({ tokens: ['another'] })
    const ended = await run(['call', 'getCampaignInfo', '--pid', 'demo', '--json'], { env })
    expect(ended.code).toBe(3)
    expect(jsonOf(ended)).toMatchObject({ version: 2, error: { code: 'unauthorized', exitCode: 3 } })
    expect(ended.stderr).toContain('CAMPAIGN_ACCESS_TOKEN')
  })

  test('4 when the service cannot be reached', async () => {
    const env = { CAMPAIGN_BASE_URL: `http://127.0.0.1:${await freePort()}/api/v1`, CAMPAIGN_ACCESS_TOKEN: 'any' }
    const { code, stderr } = await run(['call', 'rewardWallet', ...flagsOf(AWARD)], { env })
    expect(code).toBe(4)
    expect(stderr).toContain('CAMPAIGN_BASE_URL')
  })

  test('4 when a read times out', async () => {
    const { env, service } = await listeningService()
    service.fail({ kind: 'hang', times: 9 })
    const ended = await run(['call', 'getCampaignInfo', '--pid', 'demo', '--timeout', '50', '--json'], { env })
    expect(ended.code).toBe(4)
    expect(jsonOf(ended)).toMatchObject({ error: { code: 'timeout', exitCode: 4 } })
  })

  test('5 when a write may have been applied', async () => {
    const { env, service } = await listeningService()
    service.fail({ on: 'recordActionValue', kind: 'applied_then_reset' })
    const value = {
      account: 'linus',
      platform: 'discord',
      pid: 'demo',
      cid: 'welcome',
      aid: 'connect-wallet',
      value: 1,
    }
    const { code, stderr } = await run(['call', 'recordActionValue', ...flagsOf(value)], { env })
    expect(code).toBe(5)
    expect(stderr).toContain('the write may have been applied')
  })

  test('5 when a write is interrupted', async () => {
    const { env, service } = await listeningService()
    service.fail({ kind: 'hang', times: 1 })
    const write = start(['call', 'rewardWallet', ...flagsOf(AWARD)], { env })
    await expect.poll(() => service.requests.length).toBe(1)
    write.kill('SIGINT')
    expect(await write.ended).toMatchObject({ code: 5, stdout: '', stderr: expect.stringContaining('interrupted') })
  })

  test('130 when a write is interrupted after a refusal, before its retry', async () => {
    let requests = 0
    const server = createServer((_, response) => {
      requests++
      response.writeHead(429, { 'retry-after': '20', connection: 'close' }).end('{}')
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close().closeAllConnections())
    const { port } = server.address() as AddressInfo
    const env = { CAMPAIGN_BASE_URL: `http://127.0.0.1:${port}/api/v1`, CAMPAIGN_ACCESS_TOKEN: 'any' }
    const write = start(['call', 'rewardWallet', ...flagsOf(AWARD)], { env })
    await expect.poll(() => requests).toBe(1)
    // The client has read the response when it closes the connection.
    await connectionsClosed(server)
    write.kill('SIGINT')
    const words = 'rewardWallet was interrupted, and was not applied'
    expect(await write.ended).toMatchObject({ code: 130, stdout: '', stderr: expect.stringContaining(words) })
  })
})
