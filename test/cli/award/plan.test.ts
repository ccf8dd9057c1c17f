import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { freePort } from '../../support/server-process.ts'
import { type Ended, jsonOf } from '../command.ts'
import { listOf, type Setting, setUp, wallet, withParty } from './set-up.ts'

const DEMO = ['--pid', 'demo']

describe('sha256', () => {
  const LIST = `address,xp,id\n0xAA${wallet(1).slice(4)},0.10,é\n${wallet(2)},5,b\n${wallet(2)},5,b\n`
  const lines = [
    ['demo', `0xaa${wallet(1).slice(4)}`, 'é', 0.1],
    ['demo', wallet(2), 'b', 5],
    ['demo', wallet(2), 'b', 5],
  ].map((row) => `${JSON.stringify(row)}\n`)
  const HASH = createHash('sha256').update(lines.join('')).digest('hex')

  test('identifies the rows that are sent, whatever the ledger has and however the file is written', async () => {
    const { file, award } = await setUp()
    file('list.csv', LIST)
    const before = await award(['list.csv', ...DEMO, '--dry-run', '--json'])
    expect(jsonOf(before)).toMatchObject({ sha256: HASH })
    expect((await award(['list.csv', ...DEMO, '--yes'])).stderr).toContain(`  sha256    ${HASH}\n`)
    expect(jsonOf(await award(['list.csv', ...DEMO, '--dry-run', '--json']))).toMatchObject({ sha256: HASH })
    file('same.csv', LIST.replaceAll(',', ';').replace('0.10', '0.1').replaceAll('\n', '\r\n'))
    expect(jsonOf(await award(['same.csv', ...DEMO, '--dry-run', '--json']))).toMatchObject({ sha256: HASH })
  })

  test.each(['--yes', '--dry-run'])('--expect refuses another list with %s', async (flag) => {
    const { file, award, service } = await setUp()
    file('list.csv', LIST.replace(',b\n', ',c\n'))
    const ended = await award(['list.csv', ...DEMO, flag, '--expect', HASH])
    expect(ended).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('another one than --expect names'),
    })
    expect(service.requests).toEqual([])
  })

  test('--expect accepts its first 12 digits, in either letter case', async () => {
    const { file, award, made } = await setUp()
    file('list.csv', LIST)
    for (const hex of [HASH.slice(0, 11), `${HASH.slice(0, 12)}x`, '']) {
      const refused = await award(['list.csv', ...DEMO, '--yes', '--expect', hex])
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('12 to 64 hex digits') })
    }
    expect(made()).toEqual([])
    expect(await award(['list.csv', ...DEMO, '--yes', '--expect', HASH.slice(0, 12).toUpperCase()])).toMatchObject({
      code: 0,
    })
    expect(made()).toHaveLength(2)
  })
})

test('the plan names what the ledger has', async () => {
  const { award } = await withParty(2)
  expect((await award(['party.csv', ...DEMO, '--dry-run'])).stdout).toContain('ledger    party.csv.ledger  new  run')
  await award(['party.csv', ...DEMO, '--yes'])
  const ended = await award(['party.csv', ...DEMO, '--dry-run'])
  expect(ended.stdout).toMatch(/ledger {4}party\.csv\.ledger {2}2 awards of \d{4}-\d\d-\d\d {2}run/)
  const json = jsonOf(await award(['party.csv', ...DEMO, '--dry-run', '--json']))
  expect(json).toMatchObject({
    plan: { inLedger: { awards: 2, firstAt: expect.any(String), lastAt: expect.any(String) } },
  })
})

describe('a dry run ends as the run with --yes would before it sends:', () => {
  test.each<
    [string, (env: Record<string, string>) => Record<string, string> | Promise<Record<string, string>>, Partial<Ended>]
  >([
    ['a wrong URL', async () => ({ CAMPAIGN_BASE_URL: `http://127.0.0.1:${await freePort()}/api/v1` }), { code: 4 }],
    ['a wrong path', (env) => ({ CAMPAIGN_BASE_URL: `${env.CAMPAIGN_BASE_URL}/none` }), { code: 3 }],
    ['a token that is refused', () => ({ CAMPAIGN_ACCESS_TOKEN: 'stale' }), { code: 3 }],
  ])('with %s, after which the same ledger can be used', async (_, change, expected) => {
    const { award, env, made } = await withParty(3, { tokens: ['any'] })
    const wrong = await change(env)
    const dry = await award(['party.csv', ...DEMO, '--dry-run'], { env: wrong })
    expect(dry).toMatchObject({ ...expected, stdout: '' })
    expect(dry).toEqual(await award(['party.csv', ...DEMO, '--yes'], { env: wrong }))
    expect(await award(['party.csv', ...DEMO, '--yes'])).toMatchObject({ code: 0 })
    expect(made()).toHaveLength(3)
  })

  test.each([
    [{ CAMPAIGN_ACCESS_TOKEN: '' }, 'CAMPAIGN_ACCESS_TOKEN is not set'],
    [{ CAMPAIGN_BASE_URL: 'http://service.example/api/v1' }, 'must be https'],
  ])('with the environment %j', async (env, sentence) => {
    const { award } = await withParty(1)
    const dry = await award(['party.csv', ...DEMO, '--dry-run'], { env })
    expect(dry).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) })
    expect(dry).toEqual(await award(['party.csv', ...DEMO, '--yes'], { env }))
  })
})

describe('the plan asks', () => {
  const askedOf = async (args: readonly string[], { award }: Setting) =>
    (jsonOf(await award([...args, '--dry-run', '--json'])).plan as { asked?: unknown }).asked

  test('for each campaign and at most 20 wallets, and sends no write', async () => {
    const setting = await setUp()
    const { file, service } = setting
    file('party.csv', listOf(50))
    expect(await askedOf(['party.csv', ...DEMO], setting)).toEqual({ refused: [], wallets: 20, usedBefore: 0 })
    const operations = service.requests.map(({ operation }) => operation)
    expect(operations).toEqual(['getCampaignInfo', ...Array.from({ length: 20 }, () => 'getUserProgress')])
    // Spread over the list.
    const asked = service.requests.flatMap(({ query }) => query.account ?? []).map((account) => Number(account))
    expect([Math.min(...asked), Math.max(...asked)]).toEqual([1, 48])
  })

  test('nothing about rows of the ledger: a list with nothing to send needs no service', async () => {
    const setting = await setUp()
    const { file, award, service } = setting
    file('party.csv', listOf(2))
    await award(['party.csv', ...DEMO, '--yes'])
    const requests = service.requests.length
    expect(await askedOf(['party.csv', ...DEMO], setting)).toBeUndefined()
    expect(service.requests).toHaveLength(requests)
    file('party.csv', listOf(3))
    expect(await askedOf(['party.csv', ...DEMO], setting)).toEqual({ refused: [], wallets: 1, usedBefore: 0 })
  })

  test('whether reasons were used before, and warns', async () => {
    const { file, award } = await setUp()
    file('november.csv', listOf(2))
    await award(['november.csv', ...DEMO, '--yes'])
    file('december.csv', listOf(3))
    const { code, stdout } = await award(['december.csv', ...DEMO, '--dry-run', '--ledger', 'lost.ledger'])
    expect(code).toBe(0)
    expect(stdout).toContain(
      'warning   2 of 3 wallets asked already have their award of this list: its reason or ids were used before, and ' +
        'nothing will be given for them\n',
    )
  })

  test.each([
    [400, 0],
    [403, 3],
    [404, 3],
  ])('about a campaign that is refused with %i: --yes ends with %i', async (status, code) => {
    const { award, service, made } = await withParty(1)
    const args = ['party.csv', ...DEMO]
    for (const flag of ['--dry-run', '--yes']) {
      service.fail({ on: 'getCampaignInfo', kind: 'status', status, times: 1 })
      const ended = await award([...args, flag])
      expect(ended.code).toBe(code)
      expect(ended.stdout + ended.stderr).toContain(`warning   the service refuses campaign demo (${status}): `)
    }
    expect(made()).toHaveLength(code === 0 ? 1 : 0)
  })

  test.each([
    [{ on: 'getCampaignInfo', kind: 'status', status: 429, headers: { 'retry-after': '1' } }, 'HTTP 429', 1],
    [{ on: 'getCampaignInfo', kind: 'status', status: 500 }, 'HTTP 500', 1],
    [{ on: 'getCampaignInfo', kind: 'garbage' }, 'expected JSON', 1],
    [{ on: 'getUserProgress', kind: 'reset' }, 'getUserProgress', 2],
  ] as const)('no further after %o', async (fault, words, reads) => {
    const { award, service } = await withParty(3)
    service.fail({ times: 1, ...fault } as never)
    const { code, stdout } = await award(['party.csv', ...DEMO, '--dry-run'])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('the service was not asked further: '),
    })
    expect(stdout).toContain(words)
    expect(service.requests).toHaveLength(reads)
  })

  test('the wallets even if the first response is lost, and counts a refused progress as not listed', async () => {
    const setting = await withParty(3)
    setting.service.fail({ on: 'getCampaignInfo', kind: 'reset', times: 1 })
    expect(await askedOf(['party.csv', ...DEMO], setting)).toEqual({ refused: [], wallets: 3, usedBefore: 0 })
  })
})
