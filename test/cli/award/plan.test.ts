import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { jsonOf } from '../command.ts'
import { listOf, setUp, wallet } from './set-up.ts'

const DEMO = ['--pid', 'demo']
const tokenUntil = (at: number): string =>
  `e30.${Buffer.from(JSON.stringify({ exp: Math.floor(at / 1_000) })).toString('base64url')}.c2lnbmF0dXJl`

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
  const { file, award } = await setUp()
  file('party.csv', listOf(2))
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
  test('without --again', async () => {
    const { file, award, made } = await setUp()
    file('party.csv', listOf(3))
    await award(['party.csv', ...DEMO, '--yes'])
    file('party.csv', listOf(3, 'Launch party'))
    const dry = await award(['party.csv', ...DEMO, '--dry-run'])
    expect(dry.code).toBe(2)
    expect(dry).toEqual(await award(['party.csv', ...DEMO, '--yes']))
    expect(await award(['party.csv', ...DEMO, '--dry-run', '--again'])).toMatchObject({ code: 0 })
    expect(made()).toHaveLength(3)
  })

  test.each(['CAMPAIGN_ACCESS_TOKEN', 'CAMPAIGN_ACCESS_TOKEN_FILE'])('with an expired token in %s', async (name) => {
    const { file, award, service } = await setUp()
    file('party.csv', listOf(1))
    const envOf = (token: string) => ({
      CAMPAIGN_ACCESS_TOKEN: '',
      [name]: name.endsWith('FILE') ? file('token', token) : token,
    })
    const env = envOf(tokenUntil(Date.now() - 60_000))
    const dry = await award(['party.csv', ...DEMO, '--dry-run'], { env })
    expect(dry).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(/the token expired at \d{4}-/),
    })
    expect(dry).toEqual(await award(['party.csv', ...DEMO, '--yes'], { env }))
    expect(service.requests).toEqual([])
    const valid = envOf(tokenUntil(Date.now() + 600_000))
    expect(await award(['party.csv', ...DEMO, '--dry-run'], { env: valid })).toMatchObject({ code: 0 })
  })

  test.each([
    [{ CAMPAIGN_BASE_URL: '' }, 'CAMPAIGN_BASE_URL is not set'],
    [{ CAMPAIGN_ACCESS_TOKEN: '' }, 'CAMPAIGN_ACCESS_TOKEN is not set'],
    [{ CAMPAIGN_BASE_URL: 'http://service.example/api/v1' }, 'must be https'],
  ])('with the environment %j', async (env, sentence) => {
    const { file, award } = await setUp()
    file('party.csv', listOf(1))
    const dry = await award(['party.csv', ...DEMO, '--dry-run'], { env })
    expect(dry).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) })
    expect(dry).toEqual(await award(['party.csv', ...DEMO, '--yes'], { env }))
  })
})
