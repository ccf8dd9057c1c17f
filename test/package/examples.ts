import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { Pool } from 'pg'
import { createCampaignService } from '../../src/testing/index.ts'
import { TestAuthority } from '../node/certificates.ts'
import { installRuntimes } from '../runtimes/installation.ts'
import { RUNTIMES_FOLDER } from '../runtimes/runtimes.ts'
import { openConnectProxy } from '../support/connect-proxy.ts'
import { listenWithMutualTls } from '../support/mutual-tls.ts'
import { mustRun, runCommand } from './command.ts'
import { packPackage, ROOT } from './packed-package.ts'

/**
 * Runs every program of `examples` as a reader does: in a project made by `npm init -y` with the packed tarball, by the commands
 * in the program's first comment, which the recipes copy. All `npm install` lines run as one. Arguments choose programs by name.
 */
const EXAMPLES = join(ROOT, 'examples')
const MAX_MS = 60_000

/** Programs that cannot run in a plain project, and the reason. */
const SKIPPED: Readonly<Record<string, string>> = {
  'webhook-next.ts': 'needs a Next.js application: test/consumers/next builds and starts it in one',
  'webhook-worker.ts': 'needs a Cloudflare account: test/consumers/workerd runs it in workerd, without deploying',
  'test_receiver.py': 'needs a receiver and the console: test/docs/local-service.integration.test.ts runs it with both',
}

const SECRET = 'a-webhook-secret'
/** Finds `bun` and `deno`. */
const PATH = [
  ...['@oven/bun-linux-x64/bin', '@deno/linux-x64-glibc'].map((folder) =>
    join(RUNTIMES_FOLDER, 'node_modules', folder),
  ),
  process.env.PATH,
].join(delimiter)

type Settings = Readonly<Record<string, string | undefined>>

interface Running {
  /** The exit code, if the command has ended. */
  readonly code: number | null
  /** The origin of a server. */
  readonly url: string | undefined
  /** Standard output and standard error so far. */
  readonly output: string
  stop(): Promise<void>
}

interface Program {
  readonly file: string
  readonly commands: readonly string[]
  readonly packages: readonly string[]
}

const chosen = process.argv.slice(2)
const files = readdirSync(EXAMPLES).filter((file) => chosen.length === 0 || chosen.includes(file.split('.')[0] ?? ''))
if (files.length === 0) throw new Error(`unknown example ${chosen.join(', ')}`)
const programs = files.filter((file) => !(file in SKIPPED)).map(readProgram)
const { CAMPAIGN_TEST_POSTGRES_URL, CAMPAIGN_TEST_REDIS_URL } = process.env
const project = mkdtempSync(join(tmpdir(), 'campaign-examples-'))
const closers: (() => unknown)[] = [() => rmSync(project, { recursive: true, force: true })]
let failed = 0
try {
  await prepareProject()
  const settings = await startServers()
  for (const program of programs) {
    const started = performance.now()
    const missing = ['DATABASE_URL', 'REDIS_URL'].find((name) => isUsed(program, name) && !settings[name])
    const problem = missing ? undefined : await run(program, settings)
    if (problem !== undefined || (missing && process.env.CAMPAIGN_TEST_REQUIRE_SERVICES)) failed += 1
    const seconds = `${((performance.now() - started) / 1000).toFixed(1)} s`
    const [state, detail] = problem ? ['FAILED', problem] : missing ? ['skipped', `needs ${missing}`] : ['ok', seconds]
    console.log(`${state.padEnd(7)} ${program.file.padEnd(32)} ${detail}`)
  }
} finally {
  for (const close of closers.reverse()) await close()
}
for (const file of files.filter((file) => file in SKIPPED)) console.log(`skipped ${file.padEnd(32)} ${SKIPPED[file]}`)
console.log(failed === 0 ? `${programs.length} examples passed` : `${failed} of ${programs.length} examples failed`)
process.exitCode = failed === 0 ? 0 : 1

/** Reads the commands in the first comment of a program. */
function readProgram(file: string): Program {
  const [comment = ''] = /^\/\*\*[\s\S]*?\*\//.exec(readFileSync(join(EXAMPLES, file), 'utf8')) ?? []
  const lines = [...comment.matchAll(/^ \* {3}(.+)$/gm)].map(([, line]) => line).join('\n')
  const commands = lines.replaceAll(/ \\\n\s*/g, ' ').split('\n')
  const packages = commands.flatMap((command) => /^npm install (.+)$/.exec(command)?.[1]?.split(' ') ?? [])
  const wrong = packages.filter((name) => !/^(?:@[\w-]+\/)?[\w-]+@\d+(?:\.\d+)?$/.test(name))
  if (wrong.length > 0) throw new Error(`${file}: npm install ${wrong.join(' ')}: name the major version`)
  if (!commands.some((command) => command.includes(file))) throw new Error(`${file}: no command runs it`)
  return { file, commands: commands.filter((command) => !command.startsWith('npm install ')), packages }
}

function isUsed({ commands }: Program, setting: string): boolean {
  return commands.some((command) => command.includes(`${setting}=`))
}

async function prepareProject(): Promise<void> {
  if (programs.some(({ commands }) => commands.some((command) => command.includes('deno ')))) await installRuntimes()
  const { tarball } = await packPackage()
  const packages = [...new Set(programs.flatMap((program) => program.packages))]
  await mustRun('npm', ['init', '-y'], { cwd: project })
  await mustRun('npm', ['install', '--no-audit', '--no-fund', tarball, ...packages], { cwd: project })
  for (const { file } of programs) copyFileSync(join(EXAMPLES, file), join(project, file))
  // curl fails after a 4xx or 5xx.
  writeFileSync(join(project, '.curlrc'), 'fail-with-body\nsilent\nshow-error\n')
}

/** Starts the servers that the programs need. Returns their settings. */
async function startServers(): Promise<Settings> {
  const local = await createCampaignService().listen()
  closers.push(local.close)
  return {
    CAMPAIGN_BASE_URL: local.url,
    CAMPAIGN_ACCESS_TOKEN: 'an-access-token',
    CAMPAIGN_WEBHOOK_SECRET: SECRET,
    CAMPAIGN_PID: 'demo',
    DATABASE_URL: CAMPAIGN_TEST_POSTGRES_URL,
    REDIS_URL: CAMPAIGN_TEST_REDIS_URL,
  }
}

/** Starts the service and the proxy of `client-certificate.ts`, and writes its certificates. */
async function startMutualTls(): Promise<{ CAMPAIGN_BASE_URL: string; HTTPS_PROXY: string }> {
  const authority = await TestAuthority.create()
  const { cert, key } = await authority.issue('a-partner')
  const certificates = { 'client.pem': cert, 'client.key': key, 'ca.pem': authority.cert }
  for (const [name, text] of Object.entries(certificates)) writeFileSync(join(project, name), text)
  const service = await listenWithMutualTls(authority)
  const proxy = await openConnectProxy()
  closers.push(service.close, proxy.close)
  return { CAMPAIGN_BASE_URL: `https://localhost:${service.port}/api/v1`, HTTPS_PROXY: `http://${proxy.host}` }
}

/** Creates an empty database for a program. Returns its URL. */
async function createDatabase(): Promise<string> {
  const name = `example_${randomUUID().replaceAll('-', '')}`
  const admin = new Pool({ connectionString: CAMPAIGN_TEST_POSTGRES_URL, max: 1 })
  await admin.query(`CREATE DATABASE ${name}`)
  closers.push(async () => {
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await admin.end()
  })
  return Object.assign(new URL(CAMPAIGN_TEST_POSTGRES_URL ?? ''), { pathname: `/${name}` }).href
}

/** Runs the commands of a program in order. A server runs until the last one has ended. Returns what went wrong. */
async function run(program: Program, servers: Settings): Promise<string | undefined> {
  const settings = {
    ...servers,
    ...(isUsed(program, 'DATABASE_URL') && { DATABASE_URL: await createDatabase() }),
    ...(isUsed(program, 'CLIENT_CERT') && (await startMutualTls())),
  }
  const running: Running[] = []
  try {
    let variables = ''
    for (const command of program.commands.map((command) => fillIn(command, settings))) {
      if (command.startsWith('export ')) {
        variables = `${command}; `
        continue
      }
      const child = await start(variables + command.replace('http://127.0.0.1:3000', running.at(-1)?.url ?? ''))
      if (child.url === undefined) {
        if (child.code !== 0) return `${command}\nended with ${child.code}:\n${child.output}`
        continue
      }
      running.push(child)
      if (!isUsed(program, 'CAMPAIGN_WEBHOOK_SECRET')) continue
      const send = ['campaign-client', 'webhook', 'send', `${child.url}/webhooks/campaign`]
      const sent = await runCommand('npx', send, { cwd: project, env: { CAMPAIGN_WEBHOOK_SECRET: SECRET } })
      if (sent.code !== 0) return `${command}\nrefused a message:\n${sent.output}\n${child.output}`
    }
    return undefined
  } finally {
    for (const { stop } of running) await stop()
  }
}

/** Replaces `NAME=…` by the settings of this test. */
function fillIn(command: string, settings: Settings): string {
  return command.replaceAll(/\b([A-Z_]+)=(\S*…\S*|http:\/\/proxy\.example:3128)/g, (_, name) => {
    const value = settings[name]
    if (value === undefined) throw new Error(`no value for ${name}`)
    return `${name}='${value}'`
  })
}

/** Starts a command, and waits until it ends or prints the URL on which it listens. */
function start(command: string): Promise<Running> {
  const env = { ...process.env, PATH, PORT: '0', DENO_SERVE_ADDRESS: 'tcp:127.0.0.1:0', CURL_HOME: project }
  const child = spawn('sh', ['-c', command], { cwd: project, env, detached: true })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const kill = () => process.kill(-(child.pid as number), 'SIGKILL')
  let output = ''
  return new Promise((resolve) => {
    const timer = setTimeout(kill, MAX_MS)
    const finish = (url?: string): void => {
      clearTimeout(timer)
      const stop = async () => {
        kill()
        await ended
      }
      resolve({
        code: child.exitCode,
        url,
        stop,
        get output() {
          return output
        },
      })
    }
    const read = (chunk: Buffer): void => {
      output += chunk
      const [, url] = /(?:listening on|server:) (http:\/\/[\w.]+:\d+)/i.exec(output) ?? []
      if (url !== undefined) finish(url)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('close', () => finish())
  })
}
