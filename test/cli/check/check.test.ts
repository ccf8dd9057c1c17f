import { createHash } from 'node:crypto'
import { linkSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CampaignService, createCampaignService } from 'campaign-client/testing'
import { beforeEach, describe, expect, test } from 'vitest'
import { readProfile, targetOf } from '../../../src/cli/check/profile.ts'
import { skipPauses } from '../../support/skip-pauses.ts'
import { jsonOf, run, scratchFolder, start } from '../command.ts'
import { ADDRESS, type Deviation, deviatingServer, TOKEN, WALLET } from './deviation.ts'

const ERROR = '{"success":false,"error":{"code":500,"message":"internal error"}}'
const WRITE = ['--allow-writes', '--address', WALLET, '--yes']

let elapsedMs: () => number
beforeEach(() => {
  elapsedMs = skipPauses()
})

test('check exits with 0 if nothing differs, prints the table, and saves and compares a profile', async () => {
  const folder = scratchFolder()
  const file = join(folder, 'profile.json')
  const { env, service } = await deviatingServer()
  const args = ['check', '--pid', 'demo', '--code', 'WELCOME-2026']
  const first = await run([...args, '--save', file], { env })
  // At most five requests per second.
  expect(elapsedMs()).toBeGreaterThanOrEqual((service.requests.length - 1) * 200)
  expect([first.code, first.stderr]).toEqual([0, `sending at most 60 requests\nwrote ${file}\n`])
  expect(first.stdout).toMatch(/^access\n {2}as assumed {2}wrong token: HTTP 401\n/)
  expect(first.stdout).toMatch(/\n {2}not asked {3}data of getUserProgress: needs --account, --platform\n/)
  expect(first.stdout).toMatch(/\n\d+ as assumed, 0 differs, 0 can't tell, \d+ not asked\n$/)
  expect(readdirSync(folder)).toEqual(['profile.json'])
  const saved = readFileSync(file, 'utf8')
  linkSync(file, join(folder, 'earlier.json'))

  const second = await run([...args, '--json', '--against', file, '--save', file], { env })
  const { exitCode, changes, ...profile } = jsonOf(second)
  expect([second.code, exitCode, changes]).toEqual([0, 0, []])
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(profile)
  // --save creates a new file: the hard link still has the earlier content.
  expect(readFileSync(join(folder, 'earlier.json'), 'utf8')).toBe(saved)
  expect({ ...JSON.parse(saved), checkedAt: '' }).toEqual({ ...profile, checkedAt: '' })
  for (const text of [first.stdout, second.stdout, saved]) {
    for (const secret of [TOKEN, 'WELCOME-2026', 'organization-7']) expect(text).not.toContain(secret)
  }
})

test('check exits with 1 if something differs, and prints advice without control characters', async () => {
  const service = createCampaignService({ tokens: [TOKEN], queryNames: { getCampaignInfo: { pid: 'campaign' } } })
  const { env } = await deviatingServer(async (request, pass) => {
    const response = await pass()
    if (!request.url.includes('points')) return response
    const { data } = (await response.json()) as { data?: object }
    const hostile = JSON.stringify({ success: true, data: { ...data, 'x\u001b[2J': 1, 'y\u009b': '\u001b[2J' } })
    return new Response(hostile.replace(/}}$/, ',"__proto__":{"z":1}}}'))
  }, service)
  const { code, stdout, stderr } = await run(['check', '--pid', 'demo'], { env })
  expect(code).toBe(1)
  expect(stdout).toContain('  differs     query names of getCampaignInfo: campaign (assumed: pid)\n')
  expect(stdout).toContain("↳ set queryNames: { getCampaignInfo: { pid: 'campaign' } }")
  for (const control of ['\u001b', '\u009b', '__proto__']) expect(stdout + stderr).not.toContain(control)
})

/** Runs `check --save` against a service in which no read works. Returns the exit code and the error. */
async function failedCheck(deviation?: Deviation, service?: CampaignService) {
  const { env } = await deviatingServer(deviation, service)
  const file = join(scratchFolder(), 'profile.json')
  writeFileSync(file, 'earlier')
  const args = ['check', '--pid', 'demo', '--save', file]
  const words = await run(args, { env })
  const json = await run([...args, '--json'], { env })
  const { exitCode, error } = jsonOf(json)
  expect({ code: words.code, stdout: words.stdout }).toEqual({ code: json.code, stdout: '' })
  expect([exitCode, (error as { exitCode: number }).exitCode]).toEqual([json.code, json.code])
  expect(words.stderr.match(/^error .*$/gm)).toHaveLength(1)
  expect(words.stderr).toMatch(/^ {2}↳ \S/m)
  expect(words.stderr).toContain(env.CAMPAIGN_BASE_URL)
  expect(readFileSync(file, 'utf8')).toBe('earlier')
  return { code: words.code, stderr: words.stderr }
}

test('check exits with 3 and one error line if the token is refused', async () => {
  const { code, stderr } = await failedCheck(undefined, createCampaignService({ tokens: ['another'] }))
  expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('refused the token: HTTP 401') })
  expect(stderr).toContain('CAMPAIGN_ACCESS_TOKEN')
})

test.each<[number, string]>([
  [403, 'check the campaign ID'],
  [404, 'check CAMPAIGN_BASE_URL'],
])('check exits with 3 and one error line if every read of the campaign is refused with %i', async (status, advice) => {
  const body = JSON.stringify({ success: false, error: { code: status, message: 'no' } })
  const { code, stderr } = await failedCheck(() => new Response(body, { status }))
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: expect.stringContaining(`refused every read of the campaign "demo": HTTP ${status}`),
  })
  expect(stderr).toContain(advice)
})

test('check exits with 3 and one error line if the first response is a 429', async () => {
  const { code, stderr } = await failedCheck(() => new Response(ERROR, { status: 429 }))
  expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('limited the rate: HTTP 429') })
})

test.each<[string, Deviation, string]>([
  ['every response is a 500', () => new Response(ERROR, { status: 500 }), 'gave no usable response: HTTP 500'],
  [
    'every connection is reset',
    () => {
      throw new Error('reset')
    },
    'cannot be reached: ECONNRESET',
  ],
])('check exits with 4 and one error line if %s', async (_, deviation, message) => {
  expect(await failedCheck(deviation)).toEqual({ code: 4, stderr: expect.stringContaining(message) })
})

test('check exits with 5 if the outcome of the award is unknown', async () => {
  const { env } = await deviatingServer((request, pass) => {
    if (request.method === 'POST') throw new Error('reset')
    return pass()
  })
  const { code, stderr } = await run(['check', '--pid', 'demo', ...WRITE], { env })
  expect(code).toBe(5)
  expect(stderr).toContain(`--allow-writes sends one award twice: 1 XP to ${WALLET} in the campaign demo, with the id `)
  expect(stderr).toContain('the outcome of the award is unknown')
})

describe('check exits with 2, and sends nothing, for', () => {
  test.each<[string, string[], Record<string, string>, string]>([
    ['a missing campaign', [], {}, "required option '--pid <pid>' not specified"],
    ['a missing platform', ['--pid', 'demo', '--account', 'ada'], {}, '--account needs --platform'],
    ['a missing wallet', ['--pid', 'demo', '--allow-writes'], {}, '--allow-writes needs --address'],
    ['a malformed wallet', ['--pid', 'demo', '--address', '0x1'], {}, 'It must be 0x and 40 hex digits'],
    [
      'a missing terminal',
      ['--pid', 'demo', '--allow-writes', '--address', WALLET],
      {},
      'there is no terminal to ask for confirmation',
    ],
    ['CAMPAIGN_READ_ONLY', ['--pid', 'demo', ...WRITE], { CAMPAIGN_READ_ONLY: '1' }, 'forbids check --allow-writes'],
    ['--read-only', ['--pid', 'demo', '--read-only', ...WRITE], {}, 'forbids check --allow-writes'],
    ['CAMPAIGN_ALLOWED_CAMPAIGNS', ['--pid', 'demo', ...WRITE], { CAMPAIGN_ALLOWED_CAMPAIGNS: 'test' }, '"demo"'],
    [
      'a missing folder',
      ['--pid', 'demo', '--save', '/no/such/folder/profile.json'],
      {},
      'there is no folder "/no/such/folder"',
    ],
    ['a device', ['--pid', 'demo', '--save', '/dev/null'], {}, 'is not a regular file'],
    ['a missing profile', ['--pid', 'demo', '--against', '/no/such/profile.json'], {}, 'there is no such file'],
    ['plain HTTP', ['--pid', 'demo'], { CAMPAIGN_BASE_URL: 'http://service.example/api/v1' }, 'CAMPAIGN_BASE_URL'],
  ])('%s', async (_, args, extra, message) => {
    let requests = 0
    const { env } = await deviatingServer((_request, pass) => {
      requests++
      return pass()
    })
    const { code, stderr, stdout } = await run(['check', ...args], { env: { ...env, ...extra } })
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: 0 })
    expect(stderr).toContain(message)
    expect(stderr).not.toMatch(/^\s+at /m)
  })
})

test('check exits with 2 if --save would replace a link or the token file', async () => {
  const { env } = await deviatingServer()
  const cwd = scratchFolder()
  writeFileSync(join(cwd, 'token'), TOKEN)
  symlinkSync('elsewhere', join(cwd, 'link'))
  const fromFile = { CAMPAIGN_BASE_URL: env.CAMPAIGN_BASE_URL, CAMPAIGN_ACCESS_TOKEN_FILE: 'token' }
  for (const [file, words] of [
    ['token', 'would replace a file that the command uses'],
    ['link', 'is not a regular file'],
  ] as const) {
    const { code, stderr } = await run(['check', '--pid', 'demo', '--save', file], { env: fromFile, cwd })
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(words) })
  }
  expect(readFileSync(join(cwd, 'token'), 'utf8')).toBe(TOKEN)
})

test('check exits with 5 and saves nothing if it is interrupted during the award', async () => {
  const folder = scratchFolder()
  let sent = () => {}
  const isSent = new Promise<void>((resolve) => {
    sent = resolve
  })
  const { env } = await deviatingServer((request) => {
    if (request.method !== 'POST') return new Response(ERROR, { status: 500 })
    sent()
    return new Promise<Response>(() => undefined)
  })
  const args = ['check', '--pid', 'demo', '--save', join(folder, 'profile.json'), ...WRITE]
  const running = start(args, { env })
  await isSent
  running.kill('SIGINT')
  const { code, stderr } = await running.ended
  expect(code).toBe(5)
  expect(stderr).toContain('interrupted during the award')
  expect(readdirSync(folder)).toEqual([])
})

describe('a profile', () => {
  const TARGET = targetOf(ADDRESS, TOKEN)
  const PROFILE = {
    version: 1,
    checkedAt: new Date().toISOString(),
    target: {
      address: ADDRESS,
      issuer: 'issuer.example',
      subjectSha256: createHash('sha256').update('organization-7').digest('hex'),
    },
    pid: 'demo',
    client: { queryNames: { getCampaignInfo: { pid: 'id' } } },
    award: { walletPlatform: 'evm', listsRewards: 'ids' },
    answers: [{ question: 'access.path', result: 'as assumed' }],
  }

  async function read(content: unknown): Promise<{ profile: unknown; warnings: string[] }> {
    const file = join(scratchFolder(), 'profile.json')
    writeFileSync(file, JSON.stringify(content))
    const warnings: string[] = []
    const profile = await readProfile(file, TARGET, 'demo', (message) => warnings.push(message))
    return { profile, warnings }
  }

  test('is read as it was written', async () => {
    expect(await read(PROFILE)).toEqual({ profile: PROFILE, warnings: [] })
  })

  test.each<[string, unknown, string]>([
    ['of another version', { ...PROFILE, version: 2 }, 'is not a profile of version 1'],
    [
      'that is damaged',
      { ...PROFILE, answers: [{ question: 1 }] },
      'is a damaged profile: answers.0.question is wrong',
    ],
    ['that is not an object', [], 'must contain a JSON object'],
    ['without a date', { ...PROFILE, checkedAt: 'yesterday' }, 'is a damaged profile: checkedAt is wrong'],
    [
      'of another base URL',
      { ...PROFILE, target: { ...PROFILE.target, address: 'https://x.example' } },
      'another base URL',
    ],
    ['of another issuer', { ...PROFILE, target: { ...PROFILE.target, issuer: null } }, 'another token'],
    ['of another subject', { ...PROFILE, target: { ...PROFILE.target, subjectSha256: null } }, 'another token'],
    ['of another campaign', { ...PROFILE, pid: 'other' }, 'another campaign'],
    [
      'with query names of a write',
      { ...PROFILE, client: { queryNames: { rewardWallet: {} } } },
      'is a damaged profile',
    ],
  ])('%s is refused', async (_, content, message) => {
    await expect(read(content)).rejects.toThrow(message)
    await expect(read(content)).rejects.toMatchObject({ exitCode: 2 })
  })

  test('older than 30 days causes a warning', async () => {
    const checkedAt = new Date(Date.now() - 40 * 86_400_000).toISOString()
    const { warnings } = await read({ ...PROFILE, checkedAt })
    expect(warnings).toEqual([expect.stringContaining('profile.json" is 40 days old: run check again')])
  })
})
