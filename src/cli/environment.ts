import { readFileSync, statSync } from 'node:fs'
import { usageFailure } from './exit.ts'
import { fileFailure, isSystemError } from './files.ts'

type Environment = NodeJS.ProcessEnv

/** Where the service is. */
export function baseUrlOf({ CAMPAIGN_BASE_URL: given }: Environment): string {
  const baseUrl = given?.trim()
  if (baseUrl) return baseUrl
  throw usageFailure(
    'CAMPAIGN_BASE_URL is not set',
    'export CAMPAIGN_BASE_URL=https://…/api/v1, or run `campaign-client dev` for a service on this machine',
  )
}

/** The token, or where to read it. A file is read again by each call, since what writes it renews it. */
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
    'put the token there, or the name of a file that holds it into CAMPAIGN_ACCESS_TOKEN_FILE',
  )
}

function readToken(file: string): string {
  let token: string
  const name = `the file of CAMPAIGN_ACCESS_TOKEN_FILE, "${file}",`
  try {
    const stats = statSync(file)
    // The second time a pipe is read, it has nothing, or never ends.
    if (!stats.isFile() && !stats.isDirectory()) {
      throw usageFailure(`${name} is a pipe or a device: it is read more than once, so it must be a file`)
    }
    token = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw isSystemError(error) ? fileFailure(`${name} cannot be read`, error) : error
  }
  if (token !== '' && !/\s/.test(token)) return token
  throw usageFailure(`${name} must hold one token and nothing else`)
}

/** The secret of the webhook, where there is one. */
export const webhookSecretOf = ({ CAMPAIGN_WEBHOOK_SECRET: secret }: Environment): string | undefined =>
  secret || undefined

/** The same for commands that can't do without. */
export function requiredWebhookSecretOf(env: Environment): string {
  const secret = webhookSecretOf(env)
  if (secret !== undefined) return secret
  throw usageFailure('CAMPAIGN_WEBHOOK_SECRET is not set', 'put the secret of the webhook there')
}
