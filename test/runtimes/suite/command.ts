import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { equal, matches } from './assertions.ts'
import { type Behaviour, type Environment, need } from './behaviour.ts'
import { WALLET } from './local-client.ts'
import { TOKEN } from './secrets.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

/** Runs `campaign-client` in a child process of the same runtime, against the service without faults. */
async function run(environment: Environment, cwd: string, ...args: readonly string[]) {
  const runCommand = need(environment, 'runCommand')
  const env = { CAMPAIGN_BASE_URL: need(environment, 'commandServiceUrl'), CAMPAIGN_ACCESS_TOKEN: TOKEN }
  const result = await runCommand(args, cwd, env)
  const output = `${result.stdout}${result.stderr}`
  if (output.includes(TOKEN)) throw new Error('the output contains the token')
  return { ...result, output }
}

/** The command. */
export const command: readonly Behaviour[] = [
  {
    name: 'the command: call prints the data of the response',
    run: (environment) =>
      inTemporaryFolder(async (folder) => {
        const words = ['--account', 'ada', '--platform', 'discord', '--pid', 'demo', '--json']
        const { code, stdout, output } = await run(environment, folder, 'call', 'getUserProgress', ...words)
        equal(code, 0, output)
        matches(JSON.parse(stdout), { data: { name: 'Ada', total: 1215 } })
      }),
  },
  {
    name: 'the command: award sends each row of a list once, over two runs',
    run: (environment) =>
      inTemporaryFolder(async (folder) => {
        const address = `0x${'2'.repeat(40)}`
        writeFileSync(join(folder, 'party.csv'), `address,xp,reason\n${WALLET},250,party\n${address},100,party\n`)
        for (const awards of ['2 rows awarded', '2 awards made before']) {
          const { code, output } = await run(environment, folder, 'award', 'party.csv', '--pid', 'demo', '--yes')
          equal(code, 0, output)
          equal(output.includes(awards), true, output)
        }
      }),
  },
]
