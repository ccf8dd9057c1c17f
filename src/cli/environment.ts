import { readFileSync, statSync } from 'node:fs'
import { usageFailure } from './failure.ts'
import { fileFailure, isSystemError } from './files.ts'

type Environment = NodeJS.ProcessEnv

/** Reads the address of the service. */
export function baseUrlOf({ CAMPAIGN_BASE_URL: given }: Environment): string {
  const baseUrl = given?.trim()
  if (baseUrl) return baseUrl
  throw usageFailure(
    'CAMPAIGN_BASE_URL is not set',
    'export CAMPAIGN_BASE_URL=https://…/api/v1, or run `npx campaign-client dev` for a service on this machine',
  )
}

/** Returns the address of the service as profiles record it: without a slash at the end. Call it once a client has checked it. */
export const addressOf = (env: Environment): string => new URL(baseUrlOf(env)).href.replace(/\/+$/, '')

/** Reads the token, or gives a function that reads its file: the file may be renewed while the command runs. */
export function accessTokenOf(env: Environment): string | (() => string) {
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
    'set it to the token, or set CAMPAIGN_ACCESS_TOKEN_FILE to the name of a file that holds the token',
  )
}

function readToken(file: string): string {
  let token: string
  const name = `the file of CAMPAIGN_ACCESS_TOKEN_FILE, "${file}",`
  try {
    const stats = statSync(file)
    // The file is read more than once: a second read of a pipe gives nothing, or never ends.
    if (!stats.isFile() && !stats.isDirectory()) {
      throw usageFailure(`${name} is a pipe or a device: it must be a regular file, because it is read more than once`)
    }
    token = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw isSystemError(error) ? fileFailure(`${name} cannot be read`, error) : error
  }
  if (token !== '' && !/\s/.test(token)) return token
  throw usageFailure(`${name} must hold one token and nothing else`)
}

/** Reads the secret of the webhook, if one is set. */
export const webhookSecretOf = ({ CAMPAIGN_WEBHOOK_SECRET: secret }: Environment): string | undefined =>
  secret || undefined

/** Reads the secret of the webhook. @throws CommandFailure when it is not set */
export function requiredWebhookSecretOf(env: Environment): string {
  const secret = webhookSecretOf(env)
  if (secret !== undefined) return secret
  throw usageFailure('CAMPAIGN_WEBHOOK_SECRET is not set', 'set it to the secret of the webhook')
}

/** Whether writes are forbidden: by the flag `--read-only`, or by CAMPAIGN_READ_ONLY. */
export function isReadOnly({ CAMPAIGN_READ_ONLY: value = '0' }: Environment, flag = false): boolean {
  if (/^(?:0|1|true|false)$/.test(value)) return flag || value === '1' || value === 'true'
  throw usageFailure('CAMPAIGN_READ_ONLY must be 1, true, 0 or false', 'unset it to allow writes')
}

/** The failure for a write that `--read-only` or CAMPAIGN_READ_ONLY forbids. */
export const readOnlyFailure = (action: string): Error =>
  usageFailure(`${action} writes, which --read-only or CAMPAIGN_READ_ONLY forbids: nothing was sent`)

/** Reads the campaigns that may be written to; `undefined` when all may. */
export function allowedCampaignsOf({ CAMPAIGN_ALLOWED_CAMPAIGNS: value }: Environment): readonly string[] | undefined {
  if (value === undefined) return undefined
  const campaigns = value.split(',').map((name) => name.trim())
  if (!campaigns.includes('')) return campaigns
  throw usageFailure(
    'CAMPAIGN_ALLOWED_CAMPAIGNS must be a list of campaign IDs, separated by commas',
    'unset it to allow every campaign',
  )
}
