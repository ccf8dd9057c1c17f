import { readFileSync } from 'node:fs'
import { CampaignClient } from 'campaign-client'
import { expect, test } from 'vitest'
import { pathTo } from '../../scripts/repository.ts'
import { drawTerminal, plainText } from '../../scripts/terminal-picture.ts'
import { skipsWithout } from '../machine/skips-without.ts'
import { scene } from './award/setting.ts'
import { hasTerminals, start } from './command.ts'

/** The lines of a picture, with addresses and times that differ from run to run made alike. */
const linesOf = (name: string): string[] =>
  readFileSync(pathTo(`docs/pictures/${name}.terminal`), 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => alike(plainText(line)))

const alike = (text: string): string =>
  text
    .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/^\d\d:\d\d:\d\d/gm, 'TIME')
    .replaceAll(/, \d+ s$/gm, ', 0 s')

test.skipIf(skipsWithout('python3, which opens terminals', hasTerminals ? undefined : 'python3'))(
  'the picture of award is what it shows',
  async () => {
    const { file, atTerminal } = await scene()
    const [, list = ''] = /```csv\n(.*?)```/s.exec(readFileSync(pathTo('docs/command.md'), 'utf8')) ?? []
    file('party.csv', list)
    file('party-edited.csv', list.replaceAll('launch party', 'Launch party'))
    const shown: string[] = []
    for (const line of linesOf('command-award')) {
      const [, words] = /^\$ npx campaign-client award (.+)$/.exec(line) ?? []
      if (words === undefined) continue
      const running = await atTerminal(words.split(' '), { env: { TERM: 'dumb' } })
      const [question] = await running.until('stdout', /(\[y\/N\]|all the same:) $/)
      running.child.stdin?.write(question.startsWith('[') ? 'y\r' : 'n\r')
      shown.push(
        line,
        ...alike((await running.ended).stdout.replaceAll('\r', ''))
          .trimEnd()
          .split('\n'),
        '',
      )
    }
    expect(linesOf('command-award')).toEqual(shown.slice(0, -1))
  },
)

test('the picture of dev is what it shows', async () => {
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
  const [typed, ...others] = linesOf('command-dev')
  expect(typed).toBe('$ npx campaign-client dev --webhook http://HOST/webhooks/campaign')
  expect(others).toEqual(
    alike(stdout + stderr)
      .trimEnd()
      .split('\n'),
  )
})

test('a text that is no session is told so, and markup in one is only text', () => {
  expect(() => drawTerminal('$ ls\n')).toThrow('not a title')
  expect(drawTerminal('title: T\n<b>&</b> {red:x}\n')).toContain('&lt;b>&amp;&lt;/b> <tspan class="red">x</tspan>')
})
