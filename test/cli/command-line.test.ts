import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { signWebhook } from 'campaign-client/webhook'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { endpoints } from '../../src/endpoints/index.ts'
import { jsonOf, run, scratchFolder } from './command.ts'
import { listeningService } from './service.ts'

const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7'

const COMMANDS = [
  ['dev'],
  ['award'],
  ['call'],
  ['call', 'rewardWallet'],
  ['call', 'registerWebhook'],
  ['check'],
  ['types'],
  ['webhook'],
  ['webhook', 'send'],
  ['webhook', 'listen'],
  ['webhook', 'verify'],
  ['webhook', 'diagnose'],
]

test('help names every command, the environment and the exit codes', async () => {
  const { code, stdout } = await run(['--help'])
  expect(code).toBe(0)
  for (const [name = ''] of COMMANDS) expect(stdout).toContain(`\n  ${name} `)
  expect(stdout).toContain('CAMPAIGN_ACCESS_TOKEN_FILE')
  for (const code of [0, 1, 2, 3, 4, 5, 70, 130]) expect(stdout).toMatch(new RegExp(`^  ${code} +\\S`, 'm'))
})

test.each(COMMANDS)('the help of %s %s has the usage and two examples', async (...words) => {
  for (const args of [[...words, '--help'], words.length === 1 ? ['help', ...words] : [...words, '-h']]) {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(`Usage: campaign-client ${words.join(' ')}`)
    expect(stdout).toContain('--json ')
    expect(stdout.split(`$ npx campaign-client ${words.join(' ')}`).length).toBeGreaterThan(2)
    expect(stdout.endsWith('\n')).toBe(true)
  }
})

test('no line of a help is wider than 100 characters, even in a wide terminal', async () => {
  const methods = Object.keys(endpoints).map((method) => ['call', method])
  for (const words of [[], ['ledger'], ...COMMANDS, ...methods]) {
    const { stdout } = await run([...words, '--help'], { columns: 220 })
    const widths = stdout.split('\n').map((line) => line.length)
    expect(Math.max(...widths), stdout).toBeLessThanOrEqual(100)
    expect(Math.max(...widths), stdout).toBeGreaterThan(60)
  }
})

test('without a command, prints the help and ends with exit code 2', async () => {
  const { code, stdout, stderr } = await run([])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('Usage: campaign-client')
})

test.each([
  [['dve'], "unknown command 'dve'", 'dev'],
  [['webhook', 'sned'], "unknown command 'sned'", 'send'],
  [['call', 'getuserProgress'], "unknown command 'getuserProgress'", 'getUserProgress'],
  [['dev', '--prot', '1'], "unknown option '--prot'", '--port'],
  [['types', 'demo', '--ouput', 'x'], "unknown option '--ouput'", '--out'],
])('suggests the correct word for a misspelt word: %s', async (args, sentence, meant) => {
  const { code, stdout, stderr } = await run(args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(`error ${sentence}`)
  expect(stderr).toContain(meant)
})

test.each([
  [['types', 'demo', '--out', 'a.ts', '--out', 'b.ts'], '--out <file>'],
  [['award', 'party.csv', '--pid', 'demo', '--pid=live'], '--pid <pid>'],
  [['award', 'party.csv', '--ledger', 'a', '--ledger', 'a'], '--ledger <file>'],
  [['call', 'rewardWallet', '--xp', '1', '--xp', '2'], '--xp <number>'],
  [['webhook', 'verify', 'x', '--signature', 'a', '--signature', 'b'], '--signature <hex>'],
  [['dev', '--quiet', '--quiet'], '--quiet'],
  [['--json', 'types', 'demo', '--json'], '--json'],
])('refuses a flag that is given twice: %j', async (args, flag) => {
  const { code, stderr } = await run(args)
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`option '${flag}' is given twice`) })
})

test.each([
  ['--token=hunter2', 'CAMPAIGN_ACCESS_TOKEN'],
  ['--access-token=hunter2', 'CAMPAIGN_ACCESS_TOKEN'],
  ['--secret=hunter2', 'CAMPAIGN_WEBHOOK_SECRET'],
  ['--webhook-secret=hunter2', 'CAMPAIGN_WEBHOOK_SECRET'],
])('refuses a secret in a flag without showing it: %s', async (flag, variable) => {
  for (const args of [
    ['types', 'demo', flag],
    ['webhook', 'send', 'http://127.0.0.1:1', flag, '--json'],
  ]) {
    const { code, stdout, stderr } = await run(args)
    expect(code).toBe(2)
    expect(stdout + stderr).not.toContain('hunter2')
    expect(stderr).toContain(variable)
  }
})

test('with --json, also prints a failure as a line of JSON on standard output', async () => {
  const ended = await run(['types', 'demo', '--json'])
  expect(ended.code).toBe(2)
  expect(jsonOf(ended)).toEqual({
    version: 2,
    error: {
      code: 'usage',
      message: 'CAMPAIGN_BASE_URL is not set',
      advice: expect.stringContaining('campaign-client dev'),
      exitCode: 2,
    },
    exitCode: 2,
  })
  expect(ended.stdout.split('\n')).toHaveLength(2)
})

test.each([[[]], [['call']], [['webhook']]])('with --json, a missing command after %j is an error', async (words) => {
  const ended = await run([...words, '--json'])
  expect(ended.code).toBe(2)
  expect(jsonOf(ended)).toMatchObject({ version: 2, error: { code: 'usage', exitCode: 2 } })
  expect(ended.stdout.split('\n')).toHaveLength(2)
  expect(ended.stderr).toContain(`Usage: ${['campaign-client', ...words].join(' ')} `)
})

test('with --json, prints the version and the help as lines of JSON', async () => {
  for (const args of [
    ['--version', '--json'],
    ['--json', '-V'],
  ]) {
    const ended = await run(args)
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(jsonOf(ended)).toEqual({ version: 2, packageVersion: manifest.version })
  }
  for (const args of [['--help'], ['webhook', 'send', '-h'], ['help', 'call']]) {
    const words = await run(args)
    const json = await run([...args, '--json'], { env: { FORCE_COLOR: '1' } })
    expect(json).toMatchObject({ code: 0, stderr: '' })
    expect(jsonOf(json)).toEqual({ version: 2, help: words.stdout })
  }
})

describe('with --json, the last line of standard output is the result with a version', () => {
  const SECRET = 'a secret of the webhook'
  const BODY = '{"id":"1","scope":"x"}'

  test.each<[string, string[], string?]>([
    ['award', ['award', 'list.csv', '--pid', 'demo', '--yes']],
    ['award --dry-run', ['award', 'list.csv', '--pid', 'demo', '--dry-run']],
    ['award with a wrong list', ['award', '-', '--pid', 'demo', '--ledger', 'x', '--yes'], 'address,xp,id\nx,1,a\n'],
    ['call', ['call', 'getCampaignInfo', '--pid', 'demo']],
    ['call without data', ['call', 'rewardWallet', '--address', WALLET, '--pid', 'demo', '--id', 'b', '--xp', '1']],
    ['check', ['check', '--pid', 'demo', '--code', 'WELCOME-2026']],
    ['types', ['types', 'demo']],
    ['types --out', ['types', 'demo', '--out', 'campaign.ts']],
    ['webhook send', ['webhook', 'send', 'http://127.0.0.1:1/']],
    ['webhook listen', ['webhook', 'listen', '--port', '0', '--count', '1', '--within', '1']],
    ['webhook verify', ['webhook', 'verify', '-', '--signature', signWebhook(SECRET, BODY)], BODY],
    ['webhook diagnose', ['webhook', 'diagnose', '-', '--signature', 'x'], BODY],
    ['wrong flags', ['award', '--unknown']],
  ])('of %s', async (_, args, input) => {
    const { env } = await listeningService()
    const cwd = scratchFolder()
    writeFileSync(join(cwd, 'list.csv'), `address,xp,id\n${WALLET},1,a\n`)
    const options = { env: { ...env, CAMPAIGN_WEBHOOK_SECRET: SECRET }, cwd }
    const ended = await run([...args, '--json'], input === undefined ? options : { ...options, input })
    const { version, error } = jsonOf(ended)
    // `check` prints its profile, which has a version of its own.
    expect(version).toBe(args[0] === 'check' ? 1 : 2)
    const failed = error as { exitCode: number } | undefined
    expect(failed === undefined ? [0, 1] : [failed.exitCode]).toContain(ended.code)
  })
})

test('a bug in the command ends with exit code 70, and asks for a report', async () => {
  const { env } = await listeningService()
  vi.spyOn(URL, 'canParse').mockImplementation(() => {
    throw new RangeError('a bug')
  })
  onTestFinished(() => void vi.restoreAllMocks())
  const ended = await run(['call', 'getCampaignInfo', '--pid', 'demo', '--json'], { env })
  expect(ended).toMatchObject({ code: 70, stderr: expect.stringContaining('please report it') })
  expect(jsonOf(ended)).toMatchObject({ version: 2, error: { code: 'internal', exitCode: 70 } })
})

test('escapes control characters in the input', async () => {
  const { stderr } = await run(['\u001b]0;pwned\u0007\u202eevil\r\n\u009b31m'])
  expect(stderr).toContain('\\u001b]0;pwned\\u0007\\u202eevil\\u000d\\u000a\\u009b31m')
  for (const control of ['\u001b', '\u0007', '\u009b', '\u202e', '\r']) expect(stderr).not.toContain(control)
})

test('colours need a terminal or FORCE_COLOR; NO_COLOR overrides both', async () => {
  const coloured = '\u001b['
  expect((await run(['dve'])).stderr).not.toContain(coloured)
  expect((await run(['dve'], { env: { FORCE_COLOR: '1' } })).stderr).toContain(coloured)
  expect((await run(['--help'], { env: { FORCE_COLOR: '1' } })).stdout).toContain(coloured)
  expect((await run(['dve'], { env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).stderr).not.toContain(coloured)
  expect((await run(['dve'], { env: { FORCE_COLOR: '0' } })).stderr).not.toContain(coloured)
})
