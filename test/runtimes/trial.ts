import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { mustRun, runCommand } from '../package/command.ts'
import { closedUrl, startLoopbackService } from './loopback-service.ts'
import { RUNTIMES_FOLDER, type Runtime } from './runtimes.ts'
import type { Outcome } from './suite/behaviour.ts'
import { SECRET, TOKEN } from './suite/secrets.ts'

/** The result of the suite on one runtime. */
export interface Trial {
  readonly runtime: Runtime
  readonly version: string
  /** The HMAC implementation that the runtime used. */
  readonly hmac: string
  readonly passed: number
  /** Behaviours that the runtime cannot run. */
  readonly notApplicable: readonly Outcome[]
  /** The failures, each with a solution. */
  readonly problems: readonly string[]
  readonly seconds: number
}

interface Report {
  readonly version?: string
  readonly hmac?: string
  readonly outcomes: readonly Outcome[]
}

const TIMEOUT_MS = 120_000

/** Builds the suite beside the installed package, which it imports by name: for processes, and for every runtime. */
export async function buildSuite(project: string): Promise<void> {
  await build({
    entryPoints: {
      suite: join(RUNTIMES_FOLDER, 'suite/index.ts'),
      'suite-process': join(RUNTIMES_FOLDER, 'suite/process.ts'),
    },
    outdir: project,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    packages: 'external',
    format: 'esm',
    target: 'es2022',
    tsconfigRaw: {},
    logLevel: 'error',
  })
  cpSync(join(RUNTIMES_FOLDER, 'hosts'), project, { recursive: true })
  cpSync(
    join(RUNTIMES_FOLDER, 'hosts/crypto-probe.mjs'),
    join(project, 'node_modules/campaign-client/dist/crypto-probe.mjs'),
  )
  writeFileSync(join(project, 'package.json'), '{"private": true, "type": "module"}\n')
}

/** Runs the suite on one runtime. Never throws for a failure of the runtime. */
export async function tryRuntime(runtime: Runtime, project: string): Promise<Trial> {
  const started = performance.now()
  const trial = { runtime, version: '', hmac: '', passed: 0, notApplicable: [] }
  const seconds = () => (performance.now() - started) / 1000
  const testing = pathToFileURL(join(project, 'node_modules/campaign-client/dist/testing.js')).href
  const { createCampaignService } = (await import(testing)) as typeof import('campaign-client/testing')
  const service = await startLoopbackService(createCampaignService)
  const nodeService = await startLoopbackService(createCampaignService)
  const commandService = await createCampaignService({ tokens: [TOKEN] }).listen()
  try {
    const address = {
      serviceUrl: service.url,
      closedUrl: await closedUrl(),
      ...(runtime.host === 'process' && { nodeServiceUrl: nodeService.url, commandServiceUrl: commandService.url }),
    }
    const { report, problems } = await HOSTS[runtime.host](runtime, project, address)
    return {
      ...trial,
      version: report.version ?? '',
      hmac: report.hmac ?? '',
      passed: report.outcomes.filter(({ ok, lacks }) => ok && lacks === undefined).length,
      notApplicable: report.outcomes.filter(({ lacks }) => lacks !== undefined),
      problems: [
        ...problems,
        ...check(runtime, report),
        ...(report.outcomes.length > 0 ? service.problems(false) : []),
        ...(report.outcomes.some(({ name }) => name.startsWith('over nodeTransport'))
          ? nodeService.problems(runtime.name === 'deno')
          : []),
      ],
      seconds: seconds(),
    }
  } catch (error) {
    return { ...trial, problems: [error instanceof Error ? error.message : String(error)], seconds: seconds() }
  } finally {
    await Promise.all([service, nodeService, commandService].map((each) => each.close()))
  }
}

type Host = (
  runtime: Runtime,
  project: string,
  address: object,
) => Promise<{ readonly report: Report; readonly problems: readonly string[] }>

const HOSTS: Readonly<Record<Runtime['host'], Host>> = {
  async process({ binary, args = [] }, project, address) {
    return execute(binary, [...args, 'process.mjs', JSON.stringify(address)], project)
  },

  async workerd({ binary }, project, address) {
    const hmac = await bundle(project, 'worker')
    writeFileSync(join(project, 'address.json'), JSON.stringify(address))
    const { report, problems } = await execute(binary, ['test', 'workerd.capnp'], project)
    const version = (await mustRun(binary, ['--version'], { cwd: project })).trim().replace(/^\w+ /, '')
    return { report: { ...report, hmac, version }, problems }
  },
}

/** The implementations of the package's `#crypto`. */
const HMACS = { node: 'crypto.node.js', portable: 'crypto.portable.js' }

/** Bundles a file with all its imports, as partners' tools do. Returns the included HMAC. */
async function bundle(project: string, name: string): Promise<string> {
  const { metafile } = await build({
    absWorkingDir: project,
    entryPoints: [`${name}.mjs`],
    outfile: `${name}.js`,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    mainFields: ['browser', 'module', 'main'],
    conditions: ['workerd', 'worker', 'browser'],
    tsconfigRaw: {},
    metafile: true,
    logLevel: 'error',
  })
  const files = Object.keys(metafile.inputs)
  const used = Object.entries(HMACS).filter(([, built]) => files.some((file) => file.endsWith(`/dist/${built}`)))
  return used.map(([hmac]) => hmac).join(' and ')
}

async function execute(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<{ report: Report; problems: string[] }> {
  const { code, output, stdout } = await runCommand(command, args, { cwd, timeoutMs: TIMEOUT_MS, env: QUIET })
  const line = /^REPORT (\{.*\})$/m.exec(stdout)?.[1]
  const problems: string[] = []
  if (code !== 0 || line === undefined) {
    problems.push(
      `the process ended with ${code}${line === undefined ? ', before the end of the suite' : ''}:\n${output}`,
    )
  }
  // The report line is not output of the package.
  const shown = output.replaceAll(/^REPORT .*$/gm, '')
  if ([TOKEN, SECRET].some((secret) => shown.includes(secret))) problems.push('the printed client contains a secret')
  if (!shown.includes('CampaignClient')) problems.push('the suite printed no client')
  return { report: line === undefined ? { outcomes: [] } : (JSON.parse(line) as Report), problems }
}

/** The environment without colours and without the developer's Node options. */
const QUIET = { NO_COLOR: '1', NODE_OPTIONS: '', NODE_PATH: '', DENO_NO_UPDATE_CHECK: '1' }

function check(runtime: Runtime, { hmac, outcomes }: Report): string[] {
  const problems = outcomes.filter(({ ok }) => !ok).map(({ name, error }) => `${name}\n${error}`)
  if (outcomes.length > 0 && hmac !== runtime.hmac)
    problems.push(`the runtime used the HMAC ${hmac} instead of ${runtime.hmac}`)
  for (const { name, lacks } of outcomes) {
    if (lacks !== undefined && !runtime.lacks.includes(lacks)) problems.push(`${name}: the host provided no ${lacks}`)
  }
  return problems
}
