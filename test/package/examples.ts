import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCampaignService } from '../../src/testing/index.ts'
import { mustRun, runCommand } from './command.ts'
import { packPackage, ROOT } from './packed-package.ts'

/**
 * Runs every program of `examples` as a reader does: in a project made by `npm init -y` that has the packed tarball, after the
 * `npm install` line of the program. Programs that need a server are skipped without one. Arguments choose programs by name.
 */
const EXAMPLES = join(ROOT, 'examples')
const MAX_MS = 60_000

/** Programs that another tool runs, and the tests that run them. */
const OTHERS: Readonly<Record<string, string>> = {
  'webhook-hono': 'Bun and Deno, in test/examples',
  'webhook-lambda': 'AWS Lambda, in test/webhook',
  'webhook-next': 'Next.js, in test/consumers/next',
  'webhook-worker': 'workerd, in test/consumers/workerd',
}

interface Program {
  readonly name: string
  readonly packages: readonly string[]
  readonly command: string
}

const chosen = process.argv.slice(2)
const programs = readdirSync(EXAMPLES)
  .map((file) => file.replace(/(?:\.test)?\.ts$/, ''))
  .filter((name) => !(name in OTHERS) && (chosen.length === 0 || chosen.includes(name)))
  .map(readProgram)
if (programs.length === 0) throw new Error(`unknown example ${chosen.join(', ')}`)

const { tarball } = await packPackage()
const project = mkdtempSync(join(tmpdir(), 'campaign-examples-'))
const local = await createCampaignService().listen()
const { CAMPAIGN_TEST_POSTGRES_URL, CAMPAIGN_TEST_REDIS_URL } = process.env
const SERVERS = { DATABASE_URL: CAMPAIGN_TEST_POSTGRES_URL, REDIS_URL: CAMPAIGN_TEST_REDIS_URL }
const SETTINGS = {
  CAMPAIGN_BASE_URL: local.url,
  CAMPAIGN_ACCESS_TOKEN: 'an-access-token',
  CAMPAIGN_WEBHOOK_SECRET: 'a-webhook-secret',
  CAMPAIGN_PID: 'demo',
  PORT: '0',
}
let failed = 0
try {
  const packages = [...new Set(programs.flatMap((program) => program.packages))]
  await mustRun('npm', ['init', '-y'], { cwd: project })
  await mustRun('npm', ['pkg', 'set', 'type=module'], { cwd: project })
  await mustRun('npm', ['install', '--no-audit', '--no-fund', tarball, 'tsx', ...packages], { cwd: project })
  for (const program of programs) {
    const missing = Object.entries(SERVERS).find(([name, value]) => program.command.includes(name) && !value)
    const problem = missing ? undefined : await run(program)
    if (problem !== undefined || (missing && process.env.CAMPAIGN_TEST_REQUIRE_SERVICES)) failed += 1
    console.log(
      `${problem ? 'FAILED ' : missing ? 'skipped' : 'ok     '} ${program.name} ${missing?.[0] ?? problem ?? ''}`,
    )
  }
} finally {
  await local.close()
  rmSync(project, { recursive: true, force: true })
}
console.log(failed === 0 ? `${programs.length} examples passed` : `${failed} of ${programs.length} examples failed`)
process.exitCode = failed === 0 ? 0 : 1

/** Reads what the first comment of a program says. */
function readProgram(name: string): Program {
  const [file = ''] = readdirSync(EXAMPLES).filter((entry) => entry.startsWith(`${name}.`))
  const [comment = ''] = /^\/\*\*[\s\S]*?\*\//.exec(readFileSync(join(EXAMPLES, file), 'utf8')) ?? []
  const lines = comment.replaceAll(/^ \* ?/gm, '')
  const [, packages = ''] = /^ +npm install (.+)$/m.exec(lines.replaceAll(/ \\\n +/g, ' ')) ?? []
  const [command] = /^ +(?:[A-Z_]+=.*\n)*.*npx tsx (?:--test )?[\w.-]+\.ts$/m.exec(lines) ?? []
  if (command === undefined) throw new Error(`${file}: the first comment has no line with npx tsx`)
  return { name, packages: packages.split(' ').filter((text) => text !== ''), command }
}

/** Runs a program until it ends or serves a signed message. Returns what went wrong. */
async function run({ name, command }: Program): Promise<string | undefined> {
  const [, args = ''] = /npx tsx (.+)$/.exec(command) ?? []
  const file = args.split(' ').at(-1) ?? ''
  copyFileSync(join(EXAMPLES, file), join(project, file))
  const named = Object.entries({ ...SERVERS, ...SETTINGS }).filter(([key]) => key === 'PORT' || command.includes(key))
  const env = { ...process.env, ...Object.fromEntries(named) }
  const child = spawn(process.execPath, ['node_modules/tsx/dist/cli.mjs', ...args.split(' ')], { cwd: project, env })
  const { url, output } = await endOrUrl(child)
  if (url === undefined) return child.exitCode === 0 ? undefined : `ended with ${child.exitCode}:\n${output}`
  try {
    if (!name.startsWith('webhook-')) return undefined
    const send = ['node_modules/campaign-client/dist/cli/main.js', 'webhook', 'send', url]
    const sent = await runCommand(process.execPath, send, { cwd: project, env: SETTINGS })
    return sent.code === 0 ? undefined : sent.output
  } finally {
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGKILL')
    await ended
  }
}

/** Waits until a program ends or prints the URL on which it listens. */
function endOrUrl(child: ChildProcess): Promise<{ readonly url?: string; readonly output: string }> {
  return new Promise((resolve) => {
    let output = ''
    const timer = setTimeout(() => child.kill('SIGKILL'), MAX_MS)
    const read = (chunk: Buffer): void => {
      output += chunk
      const [, url] = /listening on (\S+)/.exec(output) ?? []
      if (url !== undefined) finish(url)
    }
    const finish = (url?: string): void => {
      clearTimeout(timer)
      resolve({ output, ...(url !== undefined && { url }) })
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('close', () => finish())
  })
}
