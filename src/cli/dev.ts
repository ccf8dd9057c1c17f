import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createConsole, prepareSeed } from '../console/server/index.ts'
import { endpoints } from '../endpoints/index.ts'
import { ConfigurationError } from '../errors/client-errors.ts'
import { DELIVERY_DELAYS_MS } from '../shared/delivery-schedule.ts'
import { isLoopback } from '../shared/http.ts'
import { type CampaignService, createCampaignService } from '../testing/campaign-service.ts'
import { createManualClock } from '../testing/clock.ts'
import type { ServiceEvent } from '../testing/events.ts'
import type { RequestRecord } from '../testing/http/request-log.ts'
import type { ServiceSeed } from '../testing/seed/seed.ts'
import type { CampaignServiceOptions } from '../testing/service-options.ts'
import type { DeliveryRecord } from '../testing/webhooks/delivery.ts'
import type { Context } from './command.ts'
import { webhookSecretOf } from './connection.ts'
import { hasKeys, openBrowser, readKeys } from './dev-terminal.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { issuesText, listenFailure, usageFailure } from './failure.ts'
import { inputName, readJsonObject } from './files.ts'
import { isStartedByNpx, watchNpx } from './npx.ts'
import { bold, dim, foreignJsonLine, green, type Output, red, yellow } from './output.ts'

export interface DevFlags {
  readonly port: number
  readonly seed?: string
  readonly webhook?: readonly string[]
  readonly endpointHost?: readonly string[]
  readonly host: string
  readonly allowedHost?: readonly string[]
  readonly token?: string
  readonly registrationPath?: string
  readonly rateLimit?: number
  readonly quiet?: boolean
  readonly open?: boolean
}

/** Reads a file of the console's page. The build puts the page beside the command. */
const readPageFile = (name: string): string => readFileSync(new URL(`./console/${name}`, import.meta.url), 'utf8')

/** @param host - the address to listen on; IPv6 without brackets */
const isLoopbackHost = (host: string): boolean => isLoopback(host) || host === '::1'

/** Runs the local service and its console until a signal arrives, or until npx ends if it started this command. */
export async function dev(flags: DevFlags, { output, env, interrupts }: Context): Promise<ExitCode> {
  const { webhook: urls = [], endpointHost = [], allowedHost: allowedHosts = [], host } = flags
  if (!isLoopbackHost(host) && allowedHosts.length === 0) {
    throw usageFailure(
      `--host ${host} lets other machines connect: it needs --allowed-host`,
      'add --allowed-host NAME with the host name that clients use',
    )
  }
  // Handle signals from now on: a signal may arrive as soon as the URL is printed.
  const signal = interrupts.abortOnFirst()
  const secret = webhookSecretOf(env)
  const clock = createManualClock({ running: true })
  const endpointHosts = [...endpointHost.map((name) => name.toLowerCase()), ...urls.map((url) => new URL(url).hostname)]
  const requireReachable = requireHost(new Set(endpointHosts))
  const deliver = async (request: Request): Promise<Response> => {
    requireReachable(request.url)
    return fetch(request)
  }
  const seed: ServiceSeed = flags.seed === undefined ? {} : prepareSeed(await readJsonObject(flags.seed), secret)
  const options: CampaignServiceOptions = {
    ...seed,
    // Passed at creation, so that a reset keeps them.
    ...(urls.length > 0 && { webhooks: [...(seed.webhooks ?? []), ...urls.map((url) => ({ url, secret }))] }),
    ...(flags.token !== undefined && { tokens: [flags.token] }),
    ...(flags.rateLimit !== undefined && { rateLimit: { perSecond: flags.rateLimit } }),
    ...(flags.registrationPath !== undefined && { webhookRegistrationPath: flags.registrationPath }),
  }
  const service = withSeedFailure(flags.seed, () => createCampaignService({ ...options, clock, deliver }))

  const listening = await service
    .listen({
      port: flags.port,
      host,
      intercept: (request, response) => page.intercept(request as IncomingMessage, response as ServerResponse),
    })
    .catch((error: NodeJS.ErrnoException) => {
      throw listenFailure(error, flags.port, host)
    })
  // Created in the turn of the event loop in which the server starts to listen, so before any request.
  const page = createConsole({
    service,
    readPageFile,
    setup: {
      operations: Object.keys(endpoints),
      hasSecret: secret !== undefined,
      acceptsAnyToken: options.tokens === undefined,
    },
    baseUrl: listening.url,
    // The page's form calls the URL at which the service listens.
    allowedHosts: [...allowedHosts, new URL(listening.url).hostname],
    clock,
    secret,
    accessToken: acceptedToken(options),
    registrationPath: options.webhookRegistrationPath ?? 'webhook',
    requireReachable,
  })
  if (!flags.quiet) {
    const print = eventPrinter(output, () => clock.now())
    service.subscribe((event) => output.printSafely(() => print(event)))
  }
  const shownHost = isLoopbackHost(host) ? new URL(listening.url).hostname : allowedHosts[0]
  const url = `http://${shownHost}:${listening.port}/`
  const unsigned = secret === undefined ? 'not signed: CAMPAIGN_WEBHOOK_SECRET is not set' : 'not signed'
  printAddresses(url, service, acceptedTokens(flags, options), unsigned, output)
  const open = () =>
    openBrowser(url, (program) => output.err.line(yellow('warning'), ` ${program} could not be started: open ${url}`))
  if (flags.open) open()
  await untilStopped(signal, open, env, output)
  page.close()
  await listening.close()
  return EXIT.done
}

/**
 * Returns a check that throws unless a URL is on this machine or an allowed host. Test messages must not reach a hosted
 * receiver.
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
    if (file === undefined || !(error instanceof ConfigurationError)) throw error
    throw usageFailure(`the seed in ${inputName(file)} is not valid: ${issuesText(error.issues)}`)
  }
}

/** Returns a token that the service accepts; one without limits, if there is one. */
function acceptedToken({ tokens }: CampaignServiceOptions): string {
  if (tokens === undefined) return 'dev'
  if (Array.isArray(tokens)) return tokens[0] ?? 'dev'
  const accepted = Object.entries(tokens).filter(([, { expired }]) => !expired)
  const unlimited = accepted.find(
    ([, { campaigns, organization }]) => campaigns === undefined && organization === undefined,
  )
  return (unlimited ?? accepted[0])?.[0] ?? 'dev'
}

/** Describes the tokens that the service accepts, without showing one. */
function acceptedTokens(flags: DevFlags, { tokens }: CampaignServiceOptions): string {
  if (flags.token !== undefined) return 'accepts only the token of --token'
  return tokens === undefined ? 'accepts any token' : 'accepts only the tokens of the seed'
}

function printAddresses(
  url: string,
  { webhooks }: CampaignService,
  tokens: string,
  unsigned: string,
  output: Output,
): void {
  output.result({ url, baseUrl: `${url}api/v1` }, (out) => out.line(url))
  const { err } = output
  err.line(dim('  console  '), bold(url))
  err.line(dim('  service  '), `${url}api/v1`, dim(`  ${tokens}`))
  err.line(dim('  control  '), `${url}control/`, dim('  for programs'))
  for (const { urls, signed } of webhooks) {
    for (const endpoint of urls) err.line(dim('  webhook  '), endpoint, dim(`  ${signed ? 'signed' : unsigned}`))
  }
}

/** Waits for a signal, for the key q at a terminal, or for the end of npx. */
async function untilStopped(
  signal: AbortSignal,
  open: () => void,
  env: NodeJS.ProcessEnv,
  { err }: Output,
): Promise<void> {
  const readsKeys = hasKeys()
  const stopped = new AbortController()
  const quit = () => stopped.abort()
  const clear = () => {
    if (err.isTerminal) err.write('\x1b[2J\x1b[3J\x1b[H')
  }
  const release = readsKeys ? readKeys({ open, clear, quit }) : undefined
  const stopWatching = isStartedByNpx(env) ? watchNpx(quit) : undefined
  err.line(dim(`  Press ${readsKeys ? 'o to open the console, c to clear the terminal, q or ' : ''}Ctrl-C to stop`))
  const either = AbortSignal.any([signal, stopped.signal])
  if (!either.aborted) await once(either, 'abort')
  release?.()
  stopWatching?.()
}

/** Returns a listener that prints each request and each attempt to deliver a message. */
function eventPrinter({ err }: Output, now: () => number): (event: ServiceEvent) => void {
  /** The number of attempts already printed, by delivery. */
  const printed = new Map<string, number>()
  return (event) => {
    if (event.kind === 'request_answered') printRequest(event.request, err)
    else if (event.kind === 'reset') printed.clear()
    else if (event.kind === 'delivery_changed') {
      const { deliveryId, attempts, state } = event.delivery
      if (attempts.length > (printed.get(deliveryId) ?? 0)) printAttempt(event.delivery, now(), err)
      if (state === 'pending') printed.set(deliveryId, attempts.length)
      else printed.delete(deliveryId)
    }
  }
}

function printRequest(request: RequestRecord, err: Output['err']): void {
  const { at, status, operation, method, path, reason, fault } = request
  err.line(
    dim(timeOf(at)),
    '  ',
    paint(status),
    `  ${operation ?? `${method} ${path}`}`,
    dim(reason ? `  ${reason}` : ''),
    dim(fault ? `  injected fault: ${fault}` : ''),
  )
}

/** Prints the latest attempt of a delivery: time, status or error code, event, URL, number, and when the next one comes. */
function printAttempt(delivery: DeliveryRecord, now: number, err: Output['err']): void {
  const { body, url, attempts, state, nextAttemptAt } = delivery
  const attempt = attempts.at(-1)
  if (!attempt) return
  const { event, scope } = JSON.parse(body) as { event?: { type?: unknown } | null; scope?: unknown }
  const type = event?.type ?? scope ?? 'message'
  const next =
    nextAttemptAt !== undefined
      ? `next in ${Math.max(0, Math.round((nextAttemptAt - now) / 1000))} s`
      : state === 'undelivered'
        ? 'undelivered'
        : ''
  err.line(
    dim(timeOf(attempt.at)),
    '  ',
    paint(attempt.status),
    `  ${typeof type === 'string' ? type : foreignJsonLine(type)} → ${url}`,
    dim(`  attempt ${attempts.length} of ${MAX_ATTEMPTS}`),
    dim(attempt.error === undefined ? '' : `  ${attempt.code ?? attempt.error}`),
    dim(attempt.fault ? `  injected fault: ${attempt.fault}` : ''),
    next === '' ? '' : state === 'undelivered' ? red(`  ${next}`) : yellow(`  ${next}`),
  )
}

const MAX_ATTEMPTS = DELIVERY_DELAYS_MS.length + 1

const timeOf = (ms: number): string => new Date(ms).toISOString().slice(11, 19)

function paint(status: number | undefined) {
  const colour = status === undefined || status >= 500 ? red : status >= 400 ? yellow : green
  return colour(status ?? '---')
}
