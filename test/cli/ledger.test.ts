import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { CampaignClient, CampaignError } from 'campaign-client'
import { fileLedger, rewardWallets } from 'campaign-client/bulk'
import { describe, expect, test } from 'vitest'
import { listOf, type Setting, setUp, wallet, withParty } from './award/set-up.ts'
import { jsonOf, run } from './command.ts'

const SEND = ['--pid', 'demo', '--yes', '--concurrency', '1']

/** Awards a list of 4: the first is rejected, the last is in doubt. */
async function recorded() {
  const setting = await setUp()
  const { service } = setting
  setting.file(
    'party.csv',
    listOf(4)
      .replaceAll(/,(\d),launch party/g, ',0.$1,r$1')
      .replace('reason', 'id'),
  )
  service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: 1 })
  let isFailing = false
  service.subscribe(() => {
    if (isFailing || service.state.awards.length < 2) return
    isFailing = true
    service.fail({ on: 'rewardWallet', kind: 'status', status: 500, times: 99 })
  })
  await setting.award(['party.csv', ...SEND])
  for (const fault of service.pendingFaults()) fault.cancel()
  const env = setting.env
  return {
    ...setting,
    ledger: (args: readonly string[], own: Record<string, string> = env) =>
      run(['ledger', 'party.csv.ledger', ...args], { cwd: setting.folder, env: own }),
  }
}

test('shows the target, the run, the times and the totals, without token and base URL', async () => {
  const { ledger, env, service } = await recorded()
  const requests = service.requests.length
  const { code, stdout, stderr } = await ledger([], {})
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain(env.CAMPAIGN_BASE_URL)
  const json = jsonOf(await ledger(['--json'], {}))
  expect(json).toEqual({
    version: expect.any(Number),
    target: { address: `${env.CAMPAIGN_BASE_URL}/`, issuer: null, subject: null },
    run: 'default',
    firstAt: expect.any(String),
    lastAt: expect.any(String),
    totals: {
      awarded: { awards: 2, xp: 0.5 },
      alreadyAwarded: { awards: 0, xp: 0 },
      unconfirmed: { awards: 0, xp: 0 },
      rejected: { awards: 1, xp: 0.1 },
      indeterminate: { awards: 1, xp: 0.4 },
    },
    inDoubt: 1,
    exitCode: 0,
  })
  expect(service.requests).toHaveLength(requests)
})

describe('lists awards', () => {
  const idsOf = async (setting: Awaited<ReturnType<typeof recorded>>, ...args: string[]) => {
    const ended = await setting.ledger([...args, '--json'], {})
    expect(ended.code).toBe(0)
    return (jsonOf(ended).rows as { id: string }[]).map(({ id }) => id)
  }

  test('by wallet, id and verdict', async () => {
    const setting = await recorded()
    expect(await idsOf(setting, '--wallet', wallet(2).toUpperCase().replace('0X', '0x'))).toEqual(['r2'])
    expect(await idsOf(setting, '--id', 'r3')).toEqual(['r3'])
    expect(await idsOf(setting, '--verdict', 'rejected', '--verdict', 'indeterminate')).toEqual(['r1', 'r4'])
    expect(await idsOf(setting, '--verdict', 'rejected', '--id', 'r3')).toEqual([])
    const row = { id: 'r1', address: wallet(1), pid: 'demo', xp: 0.1, verdict: 'rejected', at: expect.any(String) }
    const json = jsonOf(await setting.ledger(['--id', 'r1', '--json'], {}))
    expect(json.rows).toEqual([{ ...row, reason: expect.stringContaining('400') }])
  })

  test('with their reasons as they were recorded, without a code at the end', async () => {
    const { folder, ledger } = await recorded()
    const [rejected] = jsonOf(await ledger(['--id', 'r1', '--json'], {})).rows as { reason: string }[]
    expect(rejected?.reason).not.toContain('bad_request')

    class GatewayError extends CampaignError {}
    const client = {
      rewardWallet: () => Promise.reject(new GatewayError('the gateway is closed (on_sundays)', { code: 'gateway' })),
    }
    const award = { id: 'g1', address: wallet(1), pid: 'demo', xp: 1 }
    await rewardWallets(client, [award], { ledger: fileLedger(join(folder, 'own.ledger')) })
    const rows = jsonOf(await run(['ledger', 'own.ledger', '--id', 'g1', '--json'], { cwd: folder })).rows
    expect(rows).toMatchObject([{ id: 'g1', reason: 'the gateway is closed (on_sundays)' }])
  })

  test('and says so if there are none', async () => {
    const { ledger } = await recorded()
    expect(await ledger(['--id', 'none'], {})).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\nno award matches\n$/),
    })
  })

  test('in a CSV report with the result columns only', async () => {
    const { ledger, folder } = await recorded()
    await ledger(['--verdict', 'rejected', '--report', 'r.csv'], {})
    const [header, row] = readFileSync(join(folder, 'r.csv'), 'utf8').split('\r\n')
    expect(header).toBe('\ufeffresult_line,result_pid,result_id,result_xp,result_verdict,result_reason,result_at')
    expect(row).toMatch(/^,demo,r1,0\.1,rejected,.*400.*,\d{4}-/)
  })
})

describe('--explain', () => {
  const client = ({ env }: Setting) =>
    new CampaignClient({ baseUrl: env.CAMPAIGN_BASE_URL as string, accessToken: 'any' })

  test('says what the progress of each wallet shows that was not awarded, and sends no write', async () => {
    const setting = await recorded()
    const { ledger, service } = setting
    await client(setting).rewardWallet({ address: wallet(4), pid: 'demo', id: 'r4', xp: 0.4 })
    const requests = service.requests.length
    const json = jsonOf(await ledger(['--explain', '--json']))
    expect(json.rows).toMatchObject([
      { id: 'r1', found: 'no_such_user' },
      { id: 'r4', found: 'same_amount', foundXp: 0.4 },
    ])
    const sent = service.requests.slice(requests)
    expect(sent.map(({ operation }) => operation)).toEqual(['getUserProgress', 'getUserProgress'])
    await client(setting).rewardWallet({ address: wallet(1), pid: 'demo', id: 'r1', xp: 7 })
    const other = await ledger(['--id', 'r1', '--explain'])
    expect(other).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/400.*\n {2}the progress .* with another amount: 7 XP\n/),
    })
    expect(jsonOf(await ledger(['--id', 'r2', '--explain', '--json'])).rows).toEqual([
      expect.not.objectContaining({ found: expect.anything() }),
    ])
  })

  test('says what the progress shows of an award whose id was used before', async () => {
    const setting = await setUp()
    setting.file('party.csv', `address,xp,id\n${wallet(1)},5,r1\n`)
    await client(setting).rewardWallet({ address: wallet(1), pid: 'demo', id: 'r1', xp: 5 })
    await setting.award(['party.csv', ...SEND])
    const json = jsonOf(
      await run(['ledger', 'party.csv.ledger', '--explain', '--json'], { cwd: setting.folder, env: setting.env }),
    )
    expect(json.rows).toMatchObject([{ id: 'r1', verdict: 'alreadyAwarded', found: 'same_amount' }])
  })

  test('finds that an id is not listed', async () => {
    const setting = await recorded()
    await client(setting).rewardWallet({ address: wallet(1), pid: 'demo', id: 'another', xp: 7 })
    const json = jsonOf(await setting.ledger(['--verdict', 'rejected', '--explain', '--json']))
    expect(json).toMatchObject({ rows: [{ id: 'r1', found: 'not_listed' }], exitCode: 0 })
  })

  test('reads the progress of a wallet that the ledger does not have', async () => {
    const setting = await recorded()
    const { ledger } = setting
    const address = `0xAb${wallet(9).slice(4)}`
    await client(setting).rewardWallet({ address, pid: 'demo', id: 'another', xp: 7 })
    const args = ['--wallet', address, '--explain']
    const { code, stdout } = await ledger(args)
    expect(code).toBe(0)
    expect(stdout).toContain(
      `${address}  not in this ledger  demo\n  the progress has 7 XP in total, and 1 reward\n  another  7 xp\n`,
    )
    expect(jsonOf(await ledger([...args, '--json']))).toMatchObject({
      rows: [],
      progress: { address, pid: 'demo', found: 'user', total: 7, rewards: [{ id: 'another', type: 'xp' }] },
    })
    const unknown = await ledger(['--wallet', wallet(8), '--explain', '--pid', 'demo'])
    expect(unknown).toMatchObject({ code: 0, stdout: expect.stringContaining('no such user in this campaign') })
    // A wallet of the ledger is explained by its rows.
    expect(jsonOf(await ledger(['--wallet', wallet(1), '--explain', '--json']))).not.toHaveProperty('progress')
  })

  test('needs --pid for such a wallet if the ledger has several campaigns', async () => {
    const { award, file, folder, env } = await setUp({ campaigns: ['one', 'two'].map((id) => ({ id, name: id })) })
    file('list.csv', `address,xp,id,pid\n${wallet(1)},1,a,one\n${wallet(2)},2,b,two\n`)
    await award(['list.csv', '--yes'])
    const ledger = (...args: string[]) =>
      run(['ledger', 'list.csv.ledger', '--explain', '--wallet', wallet(9), ...args], { cwd: folder, env })
    expect(await ledger()).toMatchObject({ code: 2, stderr: expect.stringContaining('add --pid') })
    expect(await ledger('--pid', 'two')).toMatchObject({ code: 0 })
  })

  test.each([
    [{ CAMPAIGN_BASE_URL: 'http://127.0.0.1:9/api/v1' }, 2, 'the ledger has the base URL'],
    [{ CAMPAIGN_ACCESS_TOKEN: '' }, 2, 'CAMPAIGN_ACCESS_TOKEN is not set'],
  ])('with %o ends with %i', async (change, code, sentence) => {
    const { ledger, env } = await recorded()
    expect(await ledger(['--explain'], { ...env, ...change })).toMatchObject({
      code,
      stdout: '',
      stderr: expect.stringContaining(sentence),
    })
  })

  test('compares the account: a blank subject counts as no subject, and another one is refused', async () => {
    const { ledger, folder } = await recorded()
    const path = join(folder, 'party.csv.ledger')
    const record = (subject: string) => {
      const database = new DatabaseSync(path)
      database.prepare("UPDATE run SET target = json_set(target, '$.subject', ?)").run(subject)
      database.close()
    }
    record(' ')
    expect(await ledger(['--explain'])).toMatchObject({ code: 0 })
    record('job\u001b')
    expect(await ledger(['--explain'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`the ledger has the token subject ('sub') "job\\u001b", not none`),
    })
  })

  test.each([
    ['a 401', { status: 401 }],
    ['a 400 of a proxy', { status: 400, body: '<html>' }],
    ['a 400 that is no standard error', { status: 400, body: { success: false, error: 'unknown platform' } }],
  ])('ends with 3 for %s, which does not mean that there is no such user', async (_, response) => {
    const { ledger, service } = await recorded()
    service.fail({ on: 'getUserProgress', kind: 'status', ...response, times: 9 })
    const ended = await ledger(['--explain', '--json'])
    expect(ended.code).toBe(3)
    expect(ended.stdout).not.toContain('no_such_user')
  })
})

test.each([
  [['none.ledger'], 'there is no ledger'],
  [['party.csv'], 'not an SQLite database'],
  [['party.csv.ledger', '--wallet', '0x12'], '0x and 40 hex digits'],
  [['party.csv.ledger', '--verdict', 'refused'], 'It must be one of awarded'],
  [['party.csv.ledger', '--report', 'party.csv.ledger'], 'must end in'],
])('refuses %j', async (args, sentence) => {
  const { folder } = await withParty(1)
  const ended = await run(['ledger', ...args], { cwd: folder, env: {} })
  expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) })
})
