import type { CampaignError } from 'campaign-client'
import { CommandFailure, EXIT, type ExitCode } from './exit.ts'

/** What the command ends with, whatever was thrown. */
export async function describeFailure(error: unknown): Promise<CommandFailure> {
  if (error instanceof CommandFailure) return error
  const { CampaignError } = await import('campaign-client')
  if (error instanceof CampaignError) return describeCampaignError(error)
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return new CommandFailure(EXIT.internal, 'internal', `this should not have happened: ${message}`, 'please report it')
}

function describeCampaignError({ code, message, outcome }: CampaignError): CommandFailure {
  if (outcome === 'unknown') {
    const advice = 'it may have been applied: read the progress before you run it again'
    return new CommandFailure(EXIT.unknownOutcome, code, message, advice)
  }
  return new CommandFailure(exitCodeOf(code), code, message, ADVICE[code])
}

const exitCodeOf = (code: string): ExitCode => {
  if (code === 'configuration' || code === 'access_token' || code === 'invalid_request') return EXIT.usage
  return code === 'network' || code === 'timeout' ? EXIT.unreachable : EXIT.refused
}

const ADVICE: Readonly<Record<string, string>> = {
  network: 'is CAMPAIGN_BASE_URL right, and is the service up?',
  timeout: 'is CAMPAIGN_BASE_URL right, and is the service up?',
  unauthorized: 'give a fresh token in CAMPAIGN_ACCESS_TOKEN, or in the file of CAMPAIGN_ACCESS_TOKEN_FILE',
  access_denied: 'the token is valid: does the campaign belong to its organization?',
  rate_limited: 'too many calls: try again later',
}
