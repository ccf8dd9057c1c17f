import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type CampaignService,
  createCampaignService,
  createManualClock,
  type ServiceEvent,
} from 'campaign-client/testing'
import { createConsole, withSecret } from '../console/server/index.ts'
import { endpoints } from '../endpoints/index.ts'
import { isLoopback } from '../shared/hosts-and-ports.ts'
import type { Command, Context } from './commands.ts'
import { webhookSecretOf } from './environment.ts'
import { EXIT, type ExitCode, listenFailure, usageFailure } from './failure.ts'
import { inputName, readJsonObject } from './files.ts'
import { hostName, httpUrl, port, RepeatableOption } from './flags.ts'
import { bold, dim, green, type Output, red, yellow } from './output.ts'

interface DevFlags {
  readonly port: number
  readonly seed?: string
  readonly webhook?: readonly string[]
  readonly endpointHost?: readonly string[]
  readonly host: string
  readonly allowedHost?: readonly string[]
  readonly quiet?: boolean
}

/** Reads a file of the console. The build puts the console beside the command. */
const readConsoleFile = (name: string): string => readFileSync(new URL(`../console/${name}`, import.meta.url), 'utf8')

const LOOPBACK_HOSTS = new Set(['127.0.0.1', 'localhost', '::1'])

/** `campaign-client dev` */
export function define(command: Command, context: Context): void {
  command
    .description(
      'Runs a local copy of the service at /api/v1, and a console at / that shows every request. The service accepts ' +
        'any token. Prints the URL first.',
    )
    .option('--port <port>', 'port to listen on; 0: any free port', port, 4600)
    .option('--seed <file>', 'start with a seed saved by the console')
    .addOption(new RepeatableOption('--webhook <url>', 'register a webhook endpoint', httpUrl))
    .addOption(new RepeatableOption('--endpoint-host <name>', 'allow webhook messages to this host', hostName))
    .option('--host <address>', 'address to listen on, for containers', '127.0.0.1')
    .addOption(
      new RepeatableOption('--allowed-host <name>', 'allow requests to this host name; needed with --host', hostName),
    )
    .option('--quiet', 'do not print a line for each request')
    .examples(
      'dev',
      'dev --webhook http://127.0.0.1:3000/webhooks/campaign',
      'dev --seed campaign-seed.json --port 0',
      'dev --host 0.0.0.0 --allowed-host campaign --endpoint-host app',
    )
    .run((flags: DevFlags) => dev(flags, context))
}

async function dev(flags: DevFlags, { output, env, interrupts }: Context): Promise<ExitCode> {
  const { webhook: urls = [], endpointHost = [], allowedHost: allowedHosts = [], host } = flags
  if (!LOOPBACK_HOSTS.has(host) && allowedHosts.length === 0) {
    throw usageFailure(
      `--host ${host} lets other machines connect: it needs --allowed-host`,
      'add --allowed-host NAME with the host name that clients use',
    )
  }
  // Handle signals from now on: a signal may arrive as soon as the URL is printed.
  const { signal } = interrupts
  const secret = webhookSecretOf(env)
  const clock = createManualClock({ running: true })
  const endpointHosts = [...endpointHost.map((name) => name.toLowerCase()), ...urls.map((url) => new URL(url).hostname)]
  const requireReachable = requireHost(new Set(endpointHosts))
  const deliver = async (request: Request): Promise<Response> => {
    requireReachable(request.url)
    return fetch(request)
  }
  const seed = flags.seed === undefined ? {} : withSecret(await readJsonObject(flags.seed), secret)
  const service = withSeedFailure(flags.seed, () => createCampaignService({ ...seed, clock, deliver }))
  for (const url of urls) service.registerWebhook({ url, ...(secret !== undefined && { secret }) })

  const page = createConsole({
    service,
    page: { script: readConsoleFile('page.js'), style: readConsoleFile('style.css') },
    setup: { operations: Object.keys(endpoints), hasSecret: secret !== undefined },
    allowedHosts,
    clock,
    secret,
    requireReachable,
  })
  if (!flags.quiet) service.subscribe((event) => printRequest(event, output))
  const listening = await service
    .listen({
      port: flags.port,
      host,
      intercept: (request, response) => page.intercept(request as IncomingMessage, response as ServerResponse),
    })
    .catch((error: NodeJS.ErrnoException) => {
      throw listenFailure(error, flags.port, host)
    })
  const shownHost = LOOPBACK_HOSTS.has(host) ? new URL(listening.url).hostname : allowedHosts[0]
  printAddresses(`http://${shownHost}:${listening.port}/`, service, output)
  if (!signal.aborted) await once(signal, 'abort')
  page.close()
  await listening.close()
  return EXIT.done
}

/**
 * Returns a check that throws unless a URL is on this machine or an allowed host. Test messages must not reach a hosted
 * endpoint.
 */
const requireHost =
  (allowed: ReadonlySet<string>) =>
  (url: string): void => {
    if (!URL.canParse(url)) return
    const { hostname } = new URL(url)
    if (isLoopback(hostname) || allowed.has(hostname)) return
    throw new Error(
      `"${hostname}" is not this machine. Start dev with --endpoint-host ${hostname} to send messages there.`,
    )
  }

/** Creates the service. @throws CommandFailure when the seed is not valid */
function withSeedFailure(file: string | undefined, create: () => CampaignService): CampaignService {
  try {
    return create()
  } catch (error) {
    if (file === undefined || !(error instanceof TypeError || error instanceof RangeError)) throw error
    const problem = error.message.replace(/^createCampaignService: /, '')
    throw usageFailure(`the seed in ${inputName(file)} is not valid: ${problem}`)
  }
}

function printAddresses(url: string, { webhooks }: CampaignService, output: Output): void {
  output.result({ url, baseUrl: `${url}api/v1` }, (out) => out.line(url))
  const { err } = output
  err.line(dim('  console  '), bold(url))
  err.line(dim('  service  '), `${url}api/v1`, dim('  accepts any token'))
  for (const { urls, signed } of webhooks) {
    const signature = signed ? '  signed' : '  not signed: CAMPAIGN_WEBHOOK_SECRET is not set'
    for (const endpoint of urls) err.line(dim('  webhook  '), endpoint, dim(signature))
  }
  err.line(dim('  Press Ctrl-C to stop'))
}

function printRequest(event: ServiceEvent, { err }: Output): void {
  if (event.kind !== 'request_answered') return
  const { at, status, operation, method, path, reason, fault } = event.request
  const paint = status === undefined || status >= 500 ? red : status >= 400 ? yellow : green
  err.line(
    dim(new Date(at).toISOString().slice(11, 19)),
    '  ',
    paint(status ?? '---'),
    `  ${operation ?? `${method} ${path}`}`,
    dim(reason ? `  ${reason}` : ''),
    dim(fault ? `  injected fault: ${fault}` : ''),
  )
}
