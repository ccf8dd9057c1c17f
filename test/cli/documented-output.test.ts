import { readFileSync } from 'node:fs'
import { CampaignClient } from 'campaign-client'
import { expect, test } from 'vitest'
import { pathTo } from '../../scripts/repository.ts'
import { skipsWithout } from '../support/skips-without.ts'
import { setUp } from './award/set-up.ts'
import { hasTerminals, start } from './command.ts'

const page = readFileSync(pathTo('docs/command.md'), 'utf8')

/** Returns the lines of a session in docs/command.md, without ports and times. */
function linesOf(command: string): string[] {
  const [, session = ''] =
    new RegExp(`\`\`\`text\\n(\\$ npx campaign-client ${command} .*?)\\n\`\`\``, 's').exec(page) ?? []
  return withoutPortsAndTimes(session).split('\n')
}

const withoutPortsAndTimes = (text: string): string =>
  text
    .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/^\d\d:\d\d:\d\d/gm, 'TIME')
    .replaceAll(/, \d+ s$/gm, ', 0 s')

test.skipIf(skipsWithout('terminals', hasTerminals ? undefined : 'python3 with pty is not installed'))(
  'award prints the documented session',
  async () => {
    const { file, atTerminal } = await setUp()
    const [, list = ''] = /```csv\n(.*?)```/s.exec(page) ?? []
    file('party.csv', list)
    file('party-edited.csv', list.replaceAll('launch party', 'Launch party'))
    const shown: string[] = []
    for (const line of linesOf('award')) {
      const [, words] = /^\$ npx campaign-client award (.+)$/.exec(line) ?? []
      if (words === undefined) continue
      const running = await atTerminal(words.split(' '), { env: { TERM: 'dumb' } })
      const [question] = await running.until('stdout', /(\[y\/N\]|to send the list:) $/)
      running.child.stdin?.write(question.startsWith('[') ? 'y\r' : 'n\r')
      shown.push(
        line,
        ...withoutPortsAndTimes((await running.ended).stdout.replaceAll('\r', ''))
          .trimEnd()
          .split('\n'),
        '',
      )
    }
    expect(linesOf('award')).toEqual(shown.slice(0, -1))
  },
)

test('dev prints the documented session', async () => {
  const running = await start(['dev', '--port', '0', '--webhook', 'http://127.0.0.1:3000/webhooks/campaign'], {
    env: { CAMPAIGN_WEBHOOK_SECRET: 'a-secret' },
  })
  const [, url = ''] = await running.until('stdout', /^(http\S+)\n/)
  await running.until('stderr', /Ctrl-C/)
  const client = new CampaignClient({ baseUrl: `${url}api/v1`, accessToken: 'any', maxRetries: 0 })
  const award = { address: '0x52908400098527886E0F7030069857D2E4169EE7', pid: 'demo', id: 'launch-party', xp: 250 }
  await client.getUserProgress({ account: 'ada', platform: 'discord', pid: 'demo' })
  await client.rewardWallet(award)
  await client.rewardWallet(award).catch(() => undefined)
  await client.getCampaignInfo({ pid: 'summer' }).catch(() => undefined)
  await running.until('stderr', /getCampaignInfo/)
  running.child.kill('SIGINT')
  const { stdout, stderr } = await running.ended
  const [typed, ...others] = linesOf('dev')
  expect(typed).toBe('$ npx campaign-client dev --webhook http://HOST/webhooks/campaign')
  expect(others).toEqual(
    withoutPortsAndTimes(stdout + stderr)
      .trimEnd()
      .split('\n'),
  )
})
