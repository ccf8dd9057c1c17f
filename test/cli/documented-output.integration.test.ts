import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { CampaignClient } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'
import { expect, test } from 'vitest'
import { read } from '../../scripts/repository.ts'
import { skipsWithout } from '../support/skips-without.ts'
import { setUp } from './award/set-up.ts'
import { deviatingServer, TOKEN } from './check/deviation.ts'
import { hasTerminals, run, startAtTerminal } from './command.ts'

/** Returns the page of a command, or its section of the page of all commands. */
function pageOf(command: string): string {
  if (command === 'check') return read('docs/check.md')
  if (!['call', 'types'].includes(command)) return read(`docs/command/${command}.md`)
  return (
    read('docs/command.md')
      .split(/^## /m)
      .find((section) => section.startsWith(`${command}\n`)) ?? ''
  )
}

/** Returns the lines of a session in the page of a command, without ports and times. */
function linesOf(command: string, args = ''): string[] {
  const [, session = ''] =
    new RegExp(`\`\`\`text\\n(\\$ npx campaign-client ${command} ${args}.*?)\\n\`\`\``, 's').exec(pageOf(command)) ?? []
  return withoutPortsAndTimes(session).split('\n')
}

const withoutPortsAndTimes = (text: string): string =>
  text
    .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\d{4}-\d\d-\d\d/g, 'DAY')
    .replaceAll(/^\d\d:\d\d:\d\d/gm, 'TIME')
    .replaceAll(/, \d+ s$/gm, ', 0 s')

test.skipIf(skipsWithout('terminals', hasTerminals ? undefined : 'python3 with pty is not installed'))(
  'award prints the documented session',
  async () => {
    const { file, atTerminal } = await setUp()
    const [, list = ''] = /```csv\n(.*?)```/s.exec(pageOf('award')) ?? []
    file('party.csv', list)
    file('party-edited.csv', list.replaceAll('launch party', 'Launch party'))
    const shown: string[] = []
    for (const line of linesOf('award')) {
      const [, words] = /^\$ npx campaign-client award (.+)$/.exec(line) ?? []
      if (words === undefined) continue
      const running = await atTerminal(words.split(' '), { env: { TERM: 'dumb', NODE_NO_WARNINGS: '1' } })
      const [question] = await running.until('stdout', /(\[y\/N\]|to send the list:) $/)
      running.child.stdin?.write(question.startsWith('[') ? 'y\r' : 'n\r')
      shown.push(
        line,
        ...withoutPortsAndTimes((await running.ended).stdout.replaceAll('\r', ''))
          .trimEnd()
          .split('\n')
          // On a busy machine, the awards take long enough to show the progress.
          .filter((line) => !/^\d\/3 {2}\d+\/s/.test(line)),
        '',
      )
    }
    expect(linesOf('award')).toEqual(shown.slice(0, -1))
  },
)

test('award prints the documented mistakes of a list', async () => {
  const { file, award } = await setUp()
  const [, list = ''] = [...pageOf('award').matchAll(/```csv\n(.*?)```/gs)].at(-1) ?? []
  file('wrong.csv', list)
  const [command = '', ...lines] = linesOf('award', 'wrong')
  const { code, stderr } = await award(command.split(' ').slice(4))
  expect(code).toBe(2)
  expect(stderr.trimEnd().split('\n')).toEqual(lines)
})

test('call accepts the documented file of --input', async () => {
  const { file, folder, env, service } = await setUp()
  const [, award = ''] = /```json\n(.*?)```/s.exec(pageOf('call')) ?? []
  file('award.json', award)
  expect(await run(['call', 'rewardWallet', '--input', 'award.json'], { cwd: folder, env })).toMatchObject({ code: 0 })
  expect(service.state.awards).toMatchObject([JSON.parse(award)])
})

test('the documentation lists exactly the flags of the command', async () => {
  for (const command of ['award', 'ledger', 'call', 'types', 'dev', 'webhook send', 'webhook listen', 'check']) {
    const words = command.split(' ')
    const page = pageOf(words[0] as string)
    const method = command === 'call' ? ['registerWebhook'] : []
    const { stdout } = await run([...words, ...method, '--help'])
    const flags = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag as string)
    const own = flags.filter((flag) => !/^--(?:help|json|scope|url|hook_id)$/.test(flag))
    expect(own.length).toBeGreaterThan(2)
    expect(own.filter((flag) => !page.includes(flag))).toEqual([])
  }
})

test('check prints the documented table', async () => {
  const service = createCampaignService({ tokens: [TOKEN], queryNames: { getCampaignInfo: { pid: 'id' } } })
  const { env } = await deviatingServer(async (request, pass) => {
    const response = await pass()
    if (!request.url.includes('campaign/info') || response.status !== 200) return response
    const body = (await response.json()) as { data: object }
    return new Response(JSON.stringify({ ...body, data: { ...body.data, theme: 'dark' } }))
  }, service)
  const { code, stdout } = await run(['check', '--pid', 'demo', '--account', 'ada', '--platform', 'discord'], { env })
  expect(code).toBe(1)
  const [, table = ''] = /```text\n(access\n.*?)```/s.exec(read('docs/check.md')) ?? []
  const printed = stdout
    .replace('without TLS, on this machine', 'over TLS')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
  for (const line of withoutPortsAndTimes(table).trimEnd().split('\n')) {
    if (line !== '…') expect(printed.split('\n')).toContain(line)
  }
})

test.skipIf(skipsWithout('terminals', hasTerminals ? undefined : 'python3 with pty is not installed'))(
  'dev prints the documented session',
  async () => {
    // A port at which nobody listens.
    const closed = createServer().listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const { port } = closed.address() as AddressInfo
    closed.close()
    const running = await startAtTerminal(
      ['dev', '--port', '0', '--webhook', `http://127.0.0.1:${port}/webhooks/campaign`],
      {
        env: { CAMPAIGN_WEBHOOK_SECRET: 'a-secret', TERM: 'dumb', NODE_NO_WARNINGS: '1' },
      },
    )
    const [, url = ''] = await running.until('stdout', /^(http\S+)\r?\n/)
    await running.until('stdout', /Ctrl-C/)
    const client = new CampaignClient({ baseUrl: `${url}api/v1`, accessToken: 'any', maxRetries: 0 })
    const award = { address: '0x52908400098527886E0F7030069857D2E4169EE7', pid: 'demo', id: 'launch-party', xp: 250 }
    await client.getUserProgress({ account: 'ada', platform: 'discord', pid: 'demo' })
    await client.rewardWallet(award)
    await running.until('stdout', /attempt 1 of 5/)
    await client.rewardWallet(award).catch(() => undefined)
    await client.getCampaignInfo({ pid: 'summer' }).catch(() => undefined)
    await running.until('stdout', /getCampaignInfo/)
    await running.until('stdout', /attempt 1 of 5/)
    running.child.stdin?.write('\x03')
    const { stdout } = await running.ended
    const [typed, ...others] = linesOf('dev')
    expect(typed).toBe('$ npx campaign-client dev --webhook http://HOST/webhooks/campaign')
    // A delivery is printed when it ends, before or after the requests that follow it.
    const printed = withoutPortsAndTimes(stdout.replaceAll('\r', '')).trimEnd().split('\n')
    expect(others.sort()).toEqual(printed.sort())
  },
)
