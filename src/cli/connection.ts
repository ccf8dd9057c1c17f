import { readFileSync, statSync } from 'node:fs'
import type { Agent } from 'node:https'
import { getProxyForUrl } from 'proxy-from-env'
import type { CampaignClient } from '../client.ts'
import { CampaignError } from '../errors/campaign-error.ts'
import { ConfigurationError } from '../errors/client-errors.ts'
import type { ClientHooks } from '../options.ts'
import { isLoopback } from '../shared/http.ts'
import { expiryOf } from '../shared/jwt.ts'
import { EXIT, exitCodeOf } from './exit-codes.ts'
import { ADVICE, CommandFailure, issuesText, unknownOutcomeFailure, usageFailure } from './failure.ts'
import { fileFailure, isSystemError } from './files.ts'

/** The environment variables, for the help. */
export const ENVIRONMENT_HELP = `Environment:
  CAMPAIGN_BASE_URL           base URL of the service, ending in /api/v1
  CAMPAIGN_ACCESS_TOKEN       bearer token
  CAMPAIGN_ACCESS_TOKEN_FILE  file with the bearer token; read again after a 401
  CAMPAIGN_WEBHOOK_SECRET     secret of the webhook
  CAMPAIGN_READ_ONLY          1 or true: refuse every write
  CAMPAIGN_ALLOWED_CAMPAIGNS  campaigns that may be written to, for example demo,test
  HTTPS_PROXY, NO_PROXY       proxy for https, and hosts that need no proxy
  NO_COLOR                    no colours, no progress bar`

/** Returns whether a variable of the connection is set. */
export const hasConnection = (env: NodeJS.ProcessEnv): boolean =>
  Boolean(env.CAMPAIGN_BASE_URL || env.CAMPAIGN_ACCESS_TOKEN || env.CAMPAIGN_ACCESS_TOKEN_FILE)

/** Returns the base URL; `undefined` if it is not set. It may not be a URL. */
export const givenBaseUrlOf = ({ CAMPAIGN_BASE_URL: baseUrl }: NodeJS.ProcessEnv): string | undefined =>
  baseUrl?.trim() || undefined

/** Returns the base URL. @throws CommandFailure when it is not set */
export function baseUrlOf(env: NodeJS.ProcessEnv): string {
  const baseUrl = givenBaseUrlOf(env)
  if (baseUrl !== undefined) return baseUrl
  throw usageFailure(
    'CAMPAIGN_BASE_URL is not set',
    'export CAMPAIGN_BASE_URL=https://…/api/v1, or run `npx campaign-client dev` for a service on this machine',
  )
}

/** Returns the base URL to which the client sends requests, without the slash at its end. It must be a URL. */
export const normalBaseUrlOf = (env: NodeJS.ProcessEnv): string => new URL(baseUrlOf(env)).href.replace(/\/$/, '')

/** Returns the token, or a function that reads the token file. Another program may renew the token in the file. */
export function accessTokenOf(env: NodeJS.ProcessEnv): string | (() => string) {
  const { CAMPAIGN_ACCESS_TOKEN: token, CAMPAIGN_ACCESS_TOKEN_FILE: file } = env
  if (token && file) {
    throw usageFailure('CAMPAIGN_ACCESS_TOKEN and CAMPAIGN_ACCESS_TOKEN_FILE are both set', 'unset one of them')
  }
  if (file) {
    readToken(file)
    return () => readToken(file)
  }
  if (token?.trim()) return token.trim()
  throw usageFailure(
    'CAMPAIGN_ACCESS_TOKEN is not set',
    'set it to the token, or set CAMPAIGN_ACCESS_TOKEN_FILE to the path of a file with the token',
  )
}

/** Returns the token file, if one is set: an output must not replace it. */
export const tokenFilesOf = ({ CAMPAIGN_ACCESS_TOKEN_FILE: file }: NodeJS.ProcessEnv): readonly string[] =>
  file ? [file] : []

/** Returns the current token. Reads the token file, if one is set. */
export function currentTokenOf(env: NodeJS.ProcessEnv): string {
  const token = accessTokenOf(env)
  return typeof token === 'string' ? token : token()
}

/** @throws CommandFailure when the token has expired: nothing was sent */
export function refuseExpiredToken(env: NodeJS.ProcessEnv): void {
  const expiresAt = expiryOf(currentTokenOf(env))
  if (expiresAt === undefined || expiresAt > Date.now()) return
  const date = new Date(expiresAt)
  const since = Number.isNaN(date.getTime()) ? '' : ` at ${date.toISOString()}`
  const message = `the token expired${since}: nothing was sent`
  throw new CommandFailure(EXIT.refused, 'unauthorized', message, { advice: ADVICE.unauthorized })
}

function readToken(file: string): string {
  let token: string
  const name = `the file of CAMPAIGN_ACCESS_TOKEN_FILE, "${file}",`
  try {
    const stats = statSync(file)
    if (!stats.isFile() && !stats.isDirectory()) {
      throw usageFailure(`${name} is a pipe or a device: it must be a regular file, because it is read more than once`)
    }
    token = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw isSystemError(error) ? fileFailure(`${name} cannot be read`, error) : error
  }
  if (token !== '' && !/\s/.test(token)) return token
  throw usageFailure(`${name} must contain one token and nothing else`)
}

export const webhookSecretOf = ({ CAMPAIGN_WEBHOOK_SECRET: secret }: NodeJS.ProcessEnv): string | undefined =>
  secret || undefined

/** Returns the secret of the webhook. @throws CommandFailure when it is not set */
export function requiredWebhookSecretOf(env: NodeJS.ProcessEnv): string {
  const secret = webhookSecretOf(env)
  if (secret !== undefined) return secret
  throw usageFailure('CAMPAIGN_WEBHOOK_SECRET is not set', 'set it to the secret of the webhook')
}

/** Returns whether the flag `--read-only` or CAMPAIGN_READ_ONLY forbids writes. */
export function isReadOnly({ CAMPAIGN_READ_ONLY: value = '0' }: NodeJS.ProcessEnv, flag = false): boolean {
  if (/^(?:0|1|true|false)$/.test(value)) return flag || value === '1' || value === 'true'
  throw usageFailure('CAMPAIGN_READ_ONLY must be 1, true, 0 or false', 'unset it to allow writes')
}

/** The failure for a write that `--read-only` or CAMPAIGN_READ_ONLY forbids. */
export const readOnlyFailure = (action: string): Error =>
  usageFailure(`--read-only or CAMPAIGN_READ_ONLY forbids ${action}: nothing was sent`)

/** Returns the campaigns that CAMPAIGN_ALLOWED_CAMPAIGNS allows writes to; `undefined` if it is not set. */
export function allowedCampaignsOf({
  CAMPAIGN_ALLOWED_CAMPAIGNS: value,
}: NodeJS.ProcessEnv): readonly string[] | undefined {
  if (value === undefined) return undefined
  const campaigns = value.split(',').map((name) => name.trim())
  if (!campaigns.includes('')) return campaigns
  throw usageFailure(
    'CAMPAIGN_ALLOWED_CAMPAIGNS must be a list of campaign IDs, separated by commas',
    'unset it to allow every campaign',
  )
}

/** @throws CommandFailure when CAMPAIGN_ALLOWED_CAMPAIGNS does not list the campaign of the write */
export function requireAllowedCampaign(env: NodeJS.ProcessEnv, pid: unknown, write: string): void {
  if (allowedCampaignsOf(env)?.includes(String(pid)) !== false) return
  throw usageFailure(`CAMPAIGN_ALLOWED_CAMPAIGNS does not allow ${write}: nothing was sent`)
}

/** The names that messages show instead of the client's options. */
const SETTINGS = {
  baseUrl: 'CAMPAIGN_BASE_URL',
  accessToken: 'CAMPAIGN_ACCESS_TOKEN',
  guard: 'CAMPAIGN_ALLOWED_CAMPAIGNS',
  webhookRegistrationPath: '--registration-path',
}

/**
 * Creates a client from the environment. CAMPAIGN_ALLOWED_CAMPAIGNS becomes the client's `guard`.
 *
 * @throws CommandFailure when a variable is wrong, or the token has expired
 */
export async function connect(
  env: NodeJS.ProcessEnv,
  { webhookRegistrationPath, hooks }: { webhookRegistrationPath?: string | undefined; hooks?: ClientHooks } = {},
): Promise<CampaignClient> {
  const baseUrl = baseUrlOf(env)
  const accessToken = accessTokenOf(env)
  const campaigns = allowedCampaignsOf(env)
  // Reject a wrong value of CAMPAIGN_READ_ONLY, even for a read.
  isReadOnly(env)
  const agent = URL.canParse(baseUrl) ? await proxyAgentFor(baseUrl) : undefined
  const guard = campaigns && { campaigns }
  refuseExpiredToken(env)
  // Imported only here, because these two load more modules than the rest of the command.
  const { CampaignClient } = await import('../client.ts')
  const { nodeTransport } = await import('../transports/node/index.ts')
  const transport = nodeTransport(agent && { agent })
  try {
    return new CampaignClient({ baseUrl, accessToken, guard, transport, webhookRegistrationPath, hooks })
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    throw usageFailure(issuesText(error.issues, SETTINGS))
  }
}

/** Creates an agent for HTTPS_PROXY, if the URL has a proxy. Its errors name the variable. */
export async function proxyAgentFor(url: string): Promise<Agent | undefined> {
  const proxy = proxyFor(url)
  if (proxy === undefined) return undefined
  const { variable } = proxy
  // Do not show the value: it may contain a password.
  if (!URL.canParse(proxy.url) || !/^https?:$/.test(new URL(proxy.url).protocol)) {
    throw usageFailure(`${variable} is not the URL of a proxy`, 'write it as http://HOST:PORT')
  }
  const { HttpsProxyAgent } = await import('https-proxy-agent')
  const agent = new HttpsProxyAgent(proxy.url, { keepAlive: true })
  const connect = agent.connect.bind(agent)
  agent.connect = async (request, options) => {
    let status: number | undefined
    request.once('proxyConnect', ({ statusCode }: { statusCode: number }) => {
      status = statusCode
    })
    const socket = await connect(request, options).catch((cause: NodeJS.ErrnoException) => {
      throw new Error(`the proxy of ${variable} failed (${cause.code ?? cause.message})`, { cause })
    })
    if (status === 200) return socket
    // Without this, the response of the proxy would be taken for the response to the request.
    socket.destroy()
    throw new Error(`the proxy of ${variable} refused the connection with HTTP ${status}`)
  }
  return agent
}

/** The variables of a proxy for https, in the order in which `getProxyForUrl` reads them. */
const VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY']

/**
 * Returns the proxy of HTTPS_PROXY for a URL, and the variable that names it; `undefined` for http, loopback addresses and hosts
 * in NO_PROXY.
 */
function proxyFor(url: string): { readonly url: string; readonly variable: string } | undefined {
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'https:' || isLoopback(hostname) || getProxyForUrl(url) === '') return undefined
  const variable = VARIABLES.find((name) => process.env[name]) ?? 'HTTPS_PROXY'
  const value = process.env[variable] ?? ''
  // As for curl, HOST:PORT is an http proxy. `getProxyForUrl` would add https.
  return { url: value.includes('://') ? value : `http://${value}`, variable }
}

/** Converts a thrown value to a failure of the command. @param baseUrl - if one is set */
export function toFailure(error: unknown, baseUrl: string | undefined): CommandFailure {
  if (error instanceof CommandFailure) return error
  if (!(error instanceof CampaignError)) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return new CommandFailure(EXIT.internal, 'internal', `unexpected error: ${message}`, { advice: 'please report it' })
  }
  const { code, message, outcome, docsPath } = error
  if (outcome === 'unknown') return unknownOutcomeFailure(code, message, docsPath)
  return new CommandFailure(exitCodeOf(code), code, message, { advice: adviceOnError(error, baseUrl), docsPath })
}

/** Error codes of a failed TLS handshake, most often with a server that responds in plain text. */
const HANDSHAKE_CODES = new Set(['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'])

/** Advice on an error, if its outcome is known. For a service that did not respond, it depends on the connection. */
export function adviceOnError(
  { code, systemCode }: { readonly code: string; readonly systemCode?: string | undefined },
  baseUrl: string | undefined,
): string | undefined {
  if (code !== 'network' && code !== 'timeout') return ADVICE[code]
  if (systemCode !== undefined && HANDSHAKE_CODES.has(systemCode)) {
    return 'TLS failed, probably because the server speaks http on this port: check the scheme and port of CAMPAIGN_BASE_URL'
  }
  const proxy = baseUrl !== undefined && URL.canParse(baseUrl) ? proxyFor(baseUrl) : undefined
  if (proxy === undefined) return ADVICE.network
  return `the connection goes through ${proxy.variable}: check it first. Then ${ADVICE.network}`
}
