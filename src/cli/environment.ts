import { readFileSync, statSync } from 'node:fs'
import { expiryOf } from '../shared/jwt.ts'
import { EXIT } from './exit-codes.ts'
import { ADVICE, CommandFailure, usageFailure } from './failure.ts'
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
